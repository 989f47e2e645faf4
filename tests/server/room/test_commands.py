"""What each command comes to: every command by every role in every phase, in one table."""

import random
from copy import copy
from functools import cache
from pathlib import Path
from typing import Final, get_args

import pytest

from scopa_protocol import commands as c
from scopa_server.room import events as e
from scopa_server.room.decide.commands import COMMANDS
from scopa_server.room.refused import Refused
from support.tables import Table, token

PHASES: Final = ("lobby", "playing", "paused", "deal_over", "paused_over", "match_over")
ROLES: Final[dict[str, int | None]] = {"watcher": None, "seat": 1, "host": 0, "newcomer": 2}


@cache
def _made(phase: str) -> Table:
    """Anna is host, Bruno sits at 1; at 2 nobody in the lobby, then Nina, who waits for cards.

    With the match over Nina has her seat.
    """
    chance = random.Random(1)
    table = Table(seed=0, variant="scopa", players=3, target=1 if phase == "match_over" else 50)
    table.join(1)
    if phase == "lobby":
        return table
    table.start()
    table.set(next_deal_seconds=0, talk="between_deals")
    if phase not in {"playing", "paused"}:
        table.deal_out(chance)
    if phase == "match_over":
        while table.room.phase != "match_over":
            table.step(chance)
        return table
    table.do(2, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", token="n" * 22))
    if phase.startswith("paused"):
        table.do(1, c.Pause())
    return table


def table_in(phase: str) -> Table:
    """A table in that phase, to do one thing at."""
    return copy(_made(phase))


def command(name: str, table: Table) -> c.Command:
    """An example of each command that is right where it can be."""
    deal = table.room.deal_number
    made: dict[str, c.Command] = {
        "join": c.Join(room="TESTROOM", name="Zoe", token="z" * 22),
        "join_taken": c.Join(room="TESTROOM", name="Zoe", seat=1, token="z" * 22),
        "join_again": c.Join(room="TESTROOM", name="Zoe", token=token(1)),
        "leave": c.Leave(),
        "sit": c.Sit(seat=2),
        "sit_here": c.Sit(seat=1),
        "sit_nowhere": c.Sit(seat=9),
        "arrange": c.Arrange(names=[*(s.name for s in table.room.seats)][::-1]),
        "arrange_so": c.Arrange(names=[s.name for s in table.room.seats]),
        "settings": c.Configure(settings={"pace_ms": 5}),
        "rules": c.Configure(rules={"target": 7}),
        "same_rules": c.Configure(rules={"target": table.room.rules.target}),
        "bad_rules": c.Configure(rules={"target": 0}),
        "seat_bot": c.SeatBot(seat=2),
        "bot_on_person": c.SeatBot(seat=1),
        "bot_nowhere": c.SeatBot(seat=-1),
        "unseat": c.Unseat(seat=1, name="Bruno"),
        "unseat_other": c.Unseat(seat=1, name="Ada"),
        "unseat_self": c.Unseat(seat=0, name="Anna"),
        "stand_in": c.StandIn(seat=1),
        "stand_in_nowhere": c.StandIn(seat=3),
        "make_host": c.MakeHost(seat=1, name="Bruno"),
        "make_host_so": c.MakeHost(seat=0, name="Anna"),
        "start": c.Start(),
        "end_match": c.EndMatch(),
        "play": table.legal(random.Random(1)) if table.room.to_play is not None else _no_play(deal),
        "play_past": c.Play(deal=max(0, deal - 1), turn=1, card="7D", take=[]),
        "play_later": c.Play(deal=deal + 1, turn=1, card="7D", take=[]),
        "ready": c.Ready(deal=deal),
        "ready_past": c.Ready(deal=max(0, deal - 1)),
        "pause": c.Pause(),
        "unpause": c.Unpause(),
        "say": c.Say(text="ciao", key="k1"),
        "say_nothing": c.Say(text=" \u200b "),
        "first_card": c.FirstCard(deal=deal, keep=True),
        "declare": c.Declare(deal=deal, batch=1, kind="low"),
        "propose": c.Propose(rules={"target": 5}),
        "propose_so": c.Propose(rules={"target": table.room.rules.target}),
        "propose_bad": c.Propose(rules={"target": 0}),
        "propose_play": c.Propose(rules={"hand": 9}),
        "answer": c.Answer(proposal=1, agree=True),
    }
    return made[name]


def _no_play(deal: int) -> c.Play:
    return c.Play(deal=deal, turn=36, card="7D", take=["7C"])


def outcome(name: str, phase: str, role: str) -> str:
    """`ok`, `same` where it is accepted and nothing changes, or the code of the refusal."""
    table = table_in(phase)
    if role == "newcomer" and phase == "lobby":
        return "-"
    try:
        events = table.do(ROLES[role], command(name, table))
    except Refused as refusal:
        return refusal.code.value
    return "ok" if events else "same"


TABLE: Final = Path(__file__).parents[2] / "data" / "commands.txt"
ROWS: Final = [
    line.split() for line in TABLE.read_text().splitlines() if line and not line.startswith("#")
]


def test_the_table_is_whole() -> None:
    assert ROWS[0] == ["command", "role", *PHASES]
    rows = [(name, role) for name, role, *_ in ROWS[1:]]
    assert len(set(rows)) == len(rows)
    assert {role for _, role in rows} == set(ROLES)
    table = table_in("playing")
    shown = {type(command(name, table)) for name, _ in rows}
    assert shown == set(COMMANDS)


@pytest.mark.parametrize(
    ("name", "role", "cells"),
    [(name, role, cells) for name, role, *cells in ROWS[1:]],
    ids=[f"{row[0]}-{row[1]}" for row in ROWS[1:]],
)
def test_what_a_command_comes_to(name: str, role: str, cells: list[str]) -> None:
    assert [outcome(name, phase, role) for phase in PHASES] == cells


def _flagged(table: Table) -> None:
    """Everybody is away in the log, and in a match played for."""
    for seat, there in enumerate(table.room.seats):
        if there.holder is not None:
            away: list[e.LogEvent] = [e.Away(seat=seat)]
            if there.kind == "person" and table.room.in_match:
                away.append(e.StoodIn(seat=seat))
            table.append(tuple(away))


@pytest.mark.parametrize("flagged", [False, True])
@pytest.mark.parametrize("phase", PHASES)
def test_any_command_sent_twice_changes_nothing_the_second_time(phase: str, flagged: bool) -> None:
    accepted = 0
    for name, role, *_ in ROWS[1:]:
        table = table_in(phase)
        if flagged:
            _flagged(table)
        sent, seat = command(name, table), ROLES[role]
        holder = None if seat is None else table.room.seats[seat].holder
        try:
            table.do(seat, sent)
        except Refused:
            continue
        # A connection acts for its token's seat, wherever that is by now.
        now = table.room.seat_of(holder.token) if holder else None
        assert table.do(seat if now is None else now, sent) == (), (name, role)
        accepted += 1
    assert accepted > 20


def test_commands_of_connections_are_not_decided_here() -> None:
    everything = set(get_args(c.ClientCommand))
    assert everything - set(COMMANDS) == {
        c.Ping,
        c.Look,
        c.Create,
        c.Resume,
        c.Watch,
        c.History,
    }


HOSTS: Final = {
    c.Arrange,
    c.Configure,
    c.SeatBot,
    c.Unseat,
    c.StandIn,
    c.Start,
    c.EndMatch,
}
"""What is the host's alone, by the protocol."""


def test_nobody_else_has_a_host_s_powers() -> None:
    table, seen = table_in("playing"), set[type[c.Command]]()
    for name, role, *cells in ROWS[1:]:
        kind = type(command(name, table))
        if kind in HOSTS and role != "host":
            seen.add(kind)
            refused = "not_seated" if role == "watcher" else "not_host"
            assert set(cells) - {"-"} == {refused}, (name, role)
    assert seen == HOSTS


def test_the_server_s_own_list_of_a_host_s_powers_is_that_of_the_protocol() -> None:
    as_host = COMMANDS[c.Start].role
    assert {kind for kind, row in COMMANDS.items() if row.role is as_host} == HOSTS
