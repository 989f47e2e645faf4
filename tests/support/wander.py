"""A room in which anybody does anything: random commands by random people, clocks included."""

import random
from collections.abc import Iterator
from typing import Any

from scopa_protocol import commands as c
from scopa_server.room.clock import decision
from scopa_server.room.decide import CameBack, Expired, GoneAway, Settle
from scopa_server.room.decide.internal import Internal
from scopa_server.room.events import Events
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from scopa_server.rules.cards import DECK
from scopa_server.rules.declare import Declaration, may_declare

from .tables import Table

SETTINGS: list[dict[str, Any]] = [
    {"turn_seconds": 5},
    {"turn_seconds": 0, "next_deal_seconds": 0, "absent_seconds": 0},
    {"talk": "always", "watchers": "table", "watchers_talk": True},
    {"hints": "off"},
    {"hints": "memory"},
    {"pace_ms": 9999},
]
DEALING: list[dict[str, Any]] = [
    {"variant": "cirulla", "declare_both": True},
    {"variant": "chkobba", "void_deal": "two_aces", "void_dealer": "next"},
    {"variant": "cirulla", "players": 4},
    {"variant": "chkobba", "players": 4, "declarations": True, "matta": True},
    {"variant": "cirulla", "players": 3},
    {"variant": "chkobba", "opening_sweep": True, "matta": True},
    {"variant": "escoba", "players": 5, "matta": True},
]
"""Games that begin with more than dealing."""
GAMES: list[dict[str, Any]] = [
    *({"variant": "scopa", "players": players} for players in range(2, 7)),
    *DEALING,
]
RULES: list[dict[str, Any]] = [
    {"target": 2},
    {"variant": "scopa", "players": 3, "target": 1},
    {"variant": "scopone", "target": 1},
    {"variant": "scopa", "players": 2, "target": 1, "void_deal": "two_aces"},
    {"players": 9},
    {"variant": "cirulla", "target": 3},
    {"variant": "chkobba", "target": 2, "declarations": True},
    {"variant": "pizza"},
]


SCORING: list[dict[str, Any]] = [
    {"target": 5},
    {"target": 30, "napola": "run"},
    {"ties": "everyone", "primiera": "sevens"},
    {"scopa_value": "cards", "leftovers_scopa": True},
    {"sides": 2},
    {"sides": 4},
    {"hand": 9},
]


def _rescoring(room: Room, chance: random.Random) -> c.Command:
    latest = room.proposal.id if room.proposal is not None else 1
    if room.proposed is None or chance.random() < 0.2:
        return c.Propose(rules=chance.choice(SCORING))
    return c.Answer(proposal=latest, agree=chance.random() < 0.9)


def some_table(seed: int) -> Table:
    """A table for a short match."""
    return Table(seed=seed, target=1 + seed % 3, **GAMES[seed % len(GAMES)])


def any_command(room: Room, chance: random.Random) -> c.Command:
    """Some command; it may be right, wrong or nonsense."""
    number = chance.randint(-1, len(room.seats))
    names = [seat.name or "Anna" for seat in room.seats]
    arranged: list[str | None] = [seat.name for seat in room.seats]
    chance.shuffle(arranged)
    token = _token(chance)
    makers: list[c.Command] = [
        c.Join(room="TESTROOM", name=f"Gast {chance.randrange(9)}", token=token),
        c.Join(room="TESTROOM", name="Gast", seat=number, token=token),
        c.Leave(),
        c.Sit(seat=number),
        c.Arrange(names=arranged),
        c.Configure(settings=chance.choice(SETTINGS)),
        c.Configure(rules=chance.choice(RULES)),
        c.Configure(passcode=chance.choice(["", "sesamo"])),
        c.SeatBot(seat=number),
        c.Unseat(seat=number, name=chance.choice(names)),
        c.StandIn(seat=number),
        c.MakeHost(seat=number, name=chance.choice(names)),
        c.Start(),
        c.Ready(deal=room.deal_number - chance.randrange(2)),
        c.Pause(),
        c.Unpause(),
        c.Say(text="ciao", key=chance.choice([None, "a", "b"])),
        c.Play(
            deal=room.deal_number,
            turn=chance.randint(1, 20),
            card=chance.choice(DECK),
            take=chance.sample(DECK, chance.randrange(3)),
        ),
        _rescoring(room, chance),
        c.FirstCard(deal=room.deal_number - chance.randrange(2), keep=chance.random() < 0.5),
        c.Declare(
            deal=room.deal_number,
            batch=chance.randint(0, 3),
            kind=chance.choice(["low", "three", "both"]),
            matta=chance.choice([None, None, 1, 2]),
        ),
    ]
    return chance.choice([*makers, *makers, c.EndMatch()])


def _token(chance: random.Random) -> str:
    return f"token-{chance.randrange(12)}-{'x' * 22}"


def any_notice(room: Room, chance: random.Random) -> Internal:
    """Something that the server notices, perhaps too late."""
    seat = chance.randint(0, len(room.seats))
    token = room.seats[seat].token if seat < len(room.seats) else None
    notices: list[Internal] = [
        Expired("turn", decision(room)),
        Expired("absent", decision(room)),
        Expired("next_deal", decision(room)),
        Expired("proposal", decision(room)),
        GoneAway(token or ""),
        CameBack(token or ""),
        Settle(),
    ]
    return chance.choice(notices)


def stir(table: Table, chance: random.Random) -> tuple[int | None, c.Command | Internal, Events]:
    """One random thing; who did it, what it was and what came of it. Refused comes through."""
    room = table.room
    table.online = frozenset(s for s in range(len(room.seats)) if chance.random() < 0.8)
    table.offline_ms = dict.fromkeys(range(6), chance.choice([0, 70_000, 400_000]))
    table.passcode = "0" * 64
    roll = chance.random()
    seat: int | None = chance.randrange(len(room.seats))
    command: c.Command | Internal
    if roll < 0.4 and room.to_play is not None:
        seat, command = declaring(room, chance) or (room.to_play, table.legal(chance))
    elif roll < 0.4 and room.asked is not None:
        seat, command = room.asked, c.FirstCard(deal=room.deal_number, keep=chance.random() < 0.5)
    elif roll < 0.4 and room.phase == "deal_over":
        command = _rescoring(room, chance)
        if room.proposed is not None and chance.random() < 0.8:
            seat = chance.choice(room.proposed.waiting)
    elif roll < 0.5 and room.phase == "deal_over":
        command = c.Ready(deal=room.deal_number)
    elif roll < 0.5:
        seat, command = None, any_notice(room, chance)
    elif roll < 0.6:
        command = c.Ready(deal=room.deal_number)
    elif roll < 0.75 and not room.in_match:
        seat, command = room.host, chance.choice([c.Start(), c.SeatBot(seat=seat or 0), c.Start()])
    elif roll < 0.7:
        seat, command = (
            None,
            c.Join(room="TESTROOM", name=f"Gast {table.room.seq}", token=_token(chance)),
        )
    else:
        seat, command = chance.choice([None, seat, room.host]), any_command(room, chance)
    return seat, command, table.do(seat, command, auto=is_auto(room, seat, command))


def is_auto(room: Room, seat: int | None, command: c.Command | Internal) -> bool:
    """Whether it is the server that does this for a seat."""
    acts = isinstance(command, c.Play | c.FirstCard | c.Declare)
    return acts and seat is not None and room.seats[seat].served


def declaring(room: Room, chance: random.Random) -> tuple[int, c.Declare] | None:
    """Somebody who may declare, half the time."""
    deal = room.deal
    if deal is None or not room.rules.declarations or chance.random() < 0.5:
        return None
    may: list[tuple[int, Declaration]] = [
        (seat, offered) for seat in range(len(room.seats)) for offered in may_declare(deal, seat)
    ]
    if not may:
        return None
    seat, offered = chance.choice(may)
    return seat, c.Declare(
        deal=room.deal_number, batch=deal.batch, kind=offered.kind, matta=offered.matta
    )


def wander(
    table: Table, seed: int, steps: int
) -> Iterator[tuple[Room, int | None, c.Command | Internal, Events]]:
    """The room before each thing that was accepted, who did it, what, and the events."""
    chance = random.Random(seed)
    for _ in range(steps):
        before = table.room
        try:
            seat, command, events = stir(table, chance)
        except Refused:
            continue
        yield before, seat, command, events
