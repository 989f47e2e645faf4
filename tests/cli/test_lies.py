"""A server that lies: whatever numbers and lists it sends, nobody's client falls over."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from scopa_cli import model
from scopa_cli.autoplay import next_command, stuck
from scopa_cli.model import Known
from scopa_cli.reading import read
from scopa_cli.screens.prompt import prompt
from scopa_cli.sense import readable
from scopa_protocol import events
from scopa_protocol.codec import JSON
from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import Declaration, MatchResult, Matta, Proposal, RecentPlay, View
from support import server_frames as sent

ENDPOINT = "ws://127.0.0.1:8765/ws"
WORDS = (
    "1",
    "7D",
    "7D 3C",
    "table",
    "score",
    "count",
    "rules",
    "who",
    "declare 1",
    "agree",
    "help",
)
PLAY = RecentPlay(seat=1, card="2B", take=["3C"], scopa=True, to_pile=True, auto=False)
HAPPENED = (
    events.SeatTaken(seat=1, name="Bruno", kind="person"),
    events.DealerDrawn(draws=[(0, "1D"), (1, "2D")], dealer=0),
    events.Dealt(deal=1, batch=1, dealer=1, cards=[3, 3]),
    events.OpeningSwept(side=1, cards=["7D", "8D"], scope=1),
    events.Declared(seat=1, kind="low", cards=["1D", "2D", "3D"], matta=1, points=3),
    events.Played(seat=1, card="2B", take=[], scopa=False, to_pile=False, auto=False),
    events.Leftovers(side=1, cards=["2C"]),
    events.MatchWon(side=1, totals=[3, 11]),
)


def _tables() -> list[View]:
    running = sent.playing(
        matta=Matta(value=1, seat=1),
        recent=[PLAY],
        declarations=[Declaration(kind="low", matta=1, points=3)],
        deals=[[1, 2]],
        count=sent.a_count(),
    )
    over = structs.replace(
        running,
        phase="deal_over",
        proposal=Proposal(id=1, by=1, rules={"target": 21}, agreed=[1], waiting=[0], totals=[1, 2]),
    )
    result = MatchResult(winner=1, totals=[3, 11], abandoned=False)
    won = structs.replace(over, phase="match_over", winner=1, matches=[result, result])
    return [sent.lobby(), running, over, won, structs.replace(running, paused_by=1), sent.playing()]


def _lies(value: Any) -> Iterator[Any]:
    """The same with one number or list in it changed."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: lie} for lie in _lies(inner))
    elif isinstance(value, list):
        yield from ([], [*value, *value])
        for index, inner in enumerate(value):
            yield from ([*value[:index], lie, *value[index + 1 :]] for lie in _lies(inner))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (-1, 7, 99, 2**53 - 1)


def _show(view: View, joined: Joined | None, told: Update | None) -> None:
    known = Known(view=view)
    if joined is not None:
        known, _ = model.enter(Known(), joined, again=False)
    if told is not None:
        known, _ = model.update(Known(view=view), told)
    assert known.view is not None
    prompt(known.view)
    next_command(known.view)
    stuck(known.view)
    for typed in WORDS:
        read(typed, known)


@pytest.mark.parametrize("view", _tables())
def test_a_view_that_makes_no_sense_is_shown_or_passed_over(view: View) -> None:
    frame = json.loads(JSON.encode(sent.update(view, *HAPPENED)))
    for lie in _lies(frame):
        told = readable(json.dumps(lie).encode(), ENDPOINT)
        assert told is None or isinstance(told, Update)
        _show(view, None, told)


@pytest.mark.parametrize("view", _tables())
def test_a_seat_that_is_not_there_is_not_taken(view: View) -> None:
    frame = json.loads(JSON.encode(sent.joined(view)))
    for lie in _lies(frame):
        entered = readable(json.dumps(lie).encode(), ENDPOINT)
        assert entered is None or isinstance(entered, Joined)
        _show(view, entered, None)
        assert entered is None or entered.seat is None or entered.seat < len(entered.view.seats)


@pytest.mark.parametrize(
    "invite",
    ["", "ws://host/;reboot;/KRTNWXYZ", "ws://$(id)/KRTNWXYZ", "KRTNWXYZ", "ws://a|b/KRTNWXYZ\n"],
)
def test_what_a_shell_would_follow_is_no_invite(invite: str) -> None:
    frame = structs.replace(sent.joined(sent.lobby()), invite=invite)
    entered = readable(JSON.encode(frame), ENDPOINT)
    assert isinstance(entered, Joined)
    assert entered.invite == f"ws://127.0.0.1:8765/{sent.CODE}"


def test_an_invite_to_another_address_is_the_server_s_to_give() -> None:
    frame = structs.replace(sent.joined(sent.lobby()), invite=f"wss://café.example/x/{sent.CODE}")
    entered = readable(JSON.encode(frame), ENDPOINT)
    assert isinstance(entered, Joined)
    assert entered == frame


def test_a_room_that_is_no_code_is_not_entered() -> None:
    frame = structs.replace(sent.joined(sent.lobby()), room="$(id)")
    assert readable(JSON.encode(frame), ENDPOINT) is None
