"""Every frame that came over a line, compared with what its end might know by then."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from scopa_protocol.codec import JSON
from scopa_server.journal.interface import Commit
from scopa_server.room import events as e
from support.knowledge import Known
from support.player import Player

CARD: Final = re.compile(r"(?<![0-9A-Za-z])(?:10|[1-9])[DCSB](?![0-9A-Za-z])")
WHOLE: Final = frozenset({"deal_counted", "deal_voided", "dealer_drawn"})
"""Events that show cards of a deal that is over, or of a deck that no deal is played with."""


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def cards(value: Any) -> set[str]:
    """Every card of which the text stands anywhere in a value."""
    return {card for text in texts(value) for card in CARD.findall(text)}


@dataclass
class Moment:
    """What could be known once a commit was told."""

    known: dict[int | None, set[str]]
    seen: set[str]
    secrets: list[str]
    over: set[int]
    """Deals that are counted or void."""


@dataclass
class Truth:
    """A room's log, commit by commit."""

    players: int
    sides: int
    hand: int
    moments: list[Moment] = field(default_factory=list[Moment])

    def read(self, log: list[Commit]) -> "Truth":
        """Fold a whole log."""
        known = Known(self.players, self.sides, self.hand)
        over: set[int] = set()
        deal = 0
        for commit in log:
            seen: set[str] = set()
            for event in e.read_events(commit.payload):
                known.note(event)
                seen |= shown(event)
                if isinstance(event, e.Dealt | e.FirstCardOffered):
                    deal = event.deal
                if isinstance(event, e.DealCounted | e.DealVoided):
                    over = over | {event.deal if isinstance(event, e.DealVoided) else deal}
            viewers = (None, *range(self.players))
            knows = {viewer: known.may_know(viewer, memory=False) for viewer in viewers}
            self.moments.append(Moment(knows, seen, known.secrets(), over))
        return self

    def at(self, seq: int) -> Moment:
        """The moment of that number."""
        return self.moments[min(seq, len(self.moments)) - 1]


def shown(event: e.LogEvent) -> set[str]:
    """The cards that everybody sees when it happens."""
    match event:
        case e.Played():
            return {event.play.card, *event.play.take}
        case e.Leftovers() | e.OpeningSwept():
            return set(event.cards)
        case e.FirstCardLaid():
            return {event.card}
        case e.Declared():
            return set(event.declared.cards)
        case _:
            return set()


def overhear(player: Player, viewer: int | None, truth: Truth, never: list[str]) -> set[str]:
    """Check every frame that a line brought; gives the types that came.

    `never`: texts that no frame may hold. Raises AssertionError.
    """
    kinds: set[str] = set()
    seq = 0
    decode = msgspec.json.decode if player.codec is JSON else msgspec.msgpack.decode
    for raw in player.raw:
        frame: dict[str, Any] = decode(raw)
        kinds.add(frame["type"])
        before, view = seq, frame.get("view")
        if view is not None:
            seq = view["seq"]
            _check_view(view, viewer, truth.at(seq))
        moment = truth.at(seq) if seq else truth.moments[0]
        _check_rest(frame, viewer, truth, (before, seq))
        for secret in (*never, *moment.secrets):
            assert secret.encode() not in raw, frame["type"]
        assert not any(bytes.fromhex(salt) in raw for salt in moment.secrets)
    # A close has words of its own.
    assert player.socket.close_reason in (None, "", "left", "seat_lost")
    return kinds


def _check_view(view: dict[str, Any], viewer: int | None, moment: Moment) -> None:
    count = view.pop("count", None)
    # Who has just left sees no more than who watches.
    assert view["you"] in (viewer, None)
    viewer = view["you"]
    assert cards(view) <= moment.known[viewer]
    assert count is None or count["deal"] in moment.over
    mine = viewer is not None and view.get("to_play") == viewer
    assert (view["hand"] is None) == (viewer is None)
    if not mine:
        assert not view["options"]
    if viewer is None:
        assert not view["declarations"]
        assert view["first_card"] is None


def _check_rest(
    frame: dict[str, Any], viewer: int | None, truth: Truth, between: tuple[int, int]
) -> None:
    before, seq = between
    if frame["type"] == "update":
        told = [event for event in frame["events"] if event["type"] not in WHOLE]
        moments = truth.moments[before:seq]
        assert cards(told) <= set().union(*(moment.seen for moment in moments))
    elif frame["type"] == "error":
        # What lies on the table, now or when others have gone on.
        later = truth.moments[max(seq - 1, 0) : seq + 8]
        public = set[str]().union(*(moment.known[None] for moment in later))
        assert cards(frame) <= public
        assert not cards(frame["message"])
    elif frame["type"] == "history":
        assert {deal["deal"] for deal in frame["deals"]} <= truth.at(seq + 8).over
    elif frame["type"] != "joined":
        assert not cards(frame)
    else:
        assert "token" not in frame
