"""Nobody's frames hold a card that they may not know, in a thousand random matches."""

import os
import random
from typing import Any

import msgspec
import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codec import JSON
from scopa_protocol.frames import Update
from scopa_protocol.views import Count, View
from scopa_server.live import showing
from scopa_server.room import events as e
from scopa_server.room.state import Room
from support.knowledge import Known
from support.tables import Table, heard
from support.wander import declaring

MATCHES = int(os.environ.get("SCOPA_MATCHES", "1000"))
BUNDLES = 8
CARD_LETTERS = bytes(byte if byte in b"0123456789DCSB" else ord(" ") for byte in range(256))

GAMES: list[dict[str, Any]] = [
    {"variant": "scopa", "players": 2},
    {"variant": "scopa", "players": 2, "void_deal": "two_aces"},
    {"variant": "scopa", "players": 3},
    {"variant": "scopa", "players": 4},
    {"variant": "scopa", "players": 5, "void_deal": "two_aces"},
    {"variant": "scopa", "players": 6},
    {"variant": "scopone"},
    {"variant": "scopone", "void_deal": "two_aces", "void_dealer": "next"},
    {"variant": "scopone_scientifico"},
    {"variant": "scopa", "players": 4, "must_capture": False, "sides": 4},
    {"variant": "cirulla"},
    {"variant": "chkobba", "void_deal": "two_aces", "void_dealer": "next"},
    {"variant": "cirulla", "players": 4, "declare_both": True, "must_capture": False},
    {"variant": "chkobba", "players": 4, "declarations": True, "matta": True},
    {"variant": "chkobba", "opening_sweep": True, "declarations": True},
    {"variant": "cirulla", "players": 3},
    {"variant": "escoba", "players": 5, "matta": True},
]


class Watched:
    """A table of which every frame is compared with what its viewer may know."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        game = GAMES[seed % len(GAMES)]
        self.table = Table(seed=seed, target=self.chance.choice([1, 1, 1, 2, 5]), **game)
        self.table.set(hints=self.chance.choice(["options", "off", "memory"]), talk="always")
        self.table.watchers = ("Ugo",)
        self.known = _known(self.table.room)
        self.written: showing.Written = {}
        self.frames = 0
        self.checked: Count | None = None
        self.voids = 0
        self.kinds: set[type[e.LogEvent]] = set()

    def do(self, seat: int | None, command: c.Command, *, auto: bool = False) -> None:
        """Let somebody act, and look at everybody's frame."""
        before = self.table.room
        events = self.table.do(seat, command, auto=auto)
        if not events:
            return
        if any(isinstance(event, e.MatchStarted) for event in events):
            self.known = _known(before, counted=self.known)
        self._listen(before, events)
        room = self.table.room
        kept, anew = (
            showing.Showing(room, self.table.scene, [], written) for written in (self.written, None)
        )
        for viewer in (None, *range(len(room.seats))):
            frame = showing.Update(kept, viewer).encoded(JSON)
            # What is kept of former frames must not be old.
            assert frame == showing.Update(anew, viewer).encoded(JSON)
            self._look(viewer, b"".join(frame))

    def _listen(self, before: Room, events: e.Events) -> None:
        rest: list[told.RoomEvent] = []
        seen: set[str] = set()
        for event, item in heard(before, events, self.table.room.at):
            if isinstance(item, told.DealVoided) and isinstance(event, e.DealVoided):
                self._void(event, item)
            self.known.note(event)
            if isinstance(event, e.Played):
                seen |= {event.play.card, *event.play.take}
            if isinstance(event, e.Leftovers | e.OpeningSwept):
                seen |= set(event.cards)
            if isinstance(event, e.FirstCardLaid):
                seen |= {event.card}
            if isinstance(event, e.Declared):
                seen |= set(event.declared.cards)
            self.kinds.add(type(event))
            if isinstance(item, told.DealCounted):
                self._count(item.count)
            elif item is not None and not isinstance(item, told.DealVoided | told.DealerDrawn):
                rest.append(item)
        wire = JSON.encode(rest)
        assert set(_cards(wire)) <= seen
        self._no_secrets(wire)

    def _void(self, event: e.DealVoided, item: told.DealVoided) -> None:
        """A void deal is shown whole, with the proof of its own deck."""
        self.voids += 1
        shuffle, hands, table = self.known.voided(event.dealer)
        assert (item.hands, item.table) == (hands, table)
        assert (item.proof.salt, item.proof.deck) == (shuffle.salt, ",".join(shuffle.deck))

    def _count(self, count: Count) -> None:
        assert self.known.counted is not None
        assert count.proof.salt == self.known.counted.salt
        assert count.proof.deck == ",".join(self.known.counted.deck)
        assert [set(side.pile) for side in count.sides] == list(map(set, self.known.counted_piles))

    def _look(self, viewer: int | None, wire: bytes) -> None:
        frame = JSON.decode_frame(wire)
        assert isinstance(frame, Update)
        view = frame.view
        if view.count is not None:
            if view.count is not self.checked:
                self._count(view.count)
                self.checked = view.count
            shown = _encoded(view.count)
            assert wire.count(shown) == 1
            wire = wire.replace(shown, b"")
        memory = view.settings.hints == "memory"
        assert set(_cards(wire)) <= self.known.may_know(viewer, memory=memory)
        self._no_secrets(wire)
        self._shows(view, viewer)
        self.frames += 1

    def _shows(self, view: View, viewer: int | None) -> None:
        """What a viewer may know is there, so that the test can't pass on empty views."""
        assert view.table == self.known.table
        assert view.stock == len(self.known.stock)
        assert set(view.hand or []) == set(self.known.own(viewer))
        assert (view.hand is None) == (viewer is None)
        assert [(play.card, *play.take) for play in view.recent] == self.known.recent()
        swept = [card for side in view.sides for card in side.scope_cards]
        assert sorted(swept) == sorted(self.known.swept)
        assert view.first_card == self.known.first_card(viewer)
        assert [seat.revealed for seat in view.seats] == self.known.revealed()
        assert (view.matta and (view.matta.value, view.matta.seat)) == self.known.named
        if view.settings.hints == "memory":
            assert set(view.gone or []) == self.known.gone()
        else:
            assert view.gone is None
        mine = viewer is not None and view.to_play == viewer and viewer not in self.known.waiting
        assert (view.options is not None) == (mine and view.settings.hints != "off")

    def _no_secrets(self, wire: bytes) -> None:
        seats = self.table.room.seats
        hashes = [seat.holder.token for seat in seats if seat.holder is not None]
        for secret in (*self.known.secrets(), *hashes):
            assert secret.encode() not in wire

    def disturb(self) -> None:
        """Let somebody leave, join, be replaced or give up, as people do."""
        seat = self.chance.randrange(1, len(self.table.room.seats))
        there = self.table.room.seats[seat]
        if there.holder is not None:
            self.do(seat, c.Leave())
        elif self.chance.random() < 0.5:
            name = f"Gast {self.table.room.seq}"
            token = f"newcomer-{self.table.room.seq}-{'x' * 22}"
            self.do(None, c.Join(room="TESTROOM", name=name, seat=seat, token=token))
        else:
            self.do(0, c.SeatBot(seat=seat))

    def play_on(self) -> None:
        """One card, or everybody ready."""
        table = self.table
        if table.room.phase == "playing":
            self.act()
            return
        ready = c.Ready(deal=table.room.deal_number)
        for seat, there in enumerate(table.room.seats):
            if there.holder is not None and table.room.phase == "deal_over":
                table.online |= {seat}
                self.do(seat, ready)

    def act(self) -> None:
        """What the table waits for, or a declaration before it."""
        room, chance = self.table.room, self.chance
        if room.asked is not None:
            keep = c.FirstCard(deal=room.deal_number, keep=chance.random() < 0.5)
            self.do(room.asked, keep, auto=room.seats[room.asked].served)
            return
        seat, command = declaring(room, chance) or (room.to_play, self.table.legal(chance))
        assert seat is not None
        self.do(seat, command, auto=room.seats[seat].served)

    def match(self) -> None:
        """A whole match, sometimes disturbed, sometimes ended early."""
        self.table.fill()
        self.do(0, c.Start())
        restless = self.chance.random() < 0.3
        while self.table.room.in_match:
            if restless and self.chance.random() < 0.05:
                self.disturb()
            if restless and self.chance.random() < 0.002:
                self.do(0, c.EndMatch())
                break
            self.play_on()


def _known(room: Room, counted: Known | None = None) -> Known:
    rules = room.rules
    known = Known(rules.players, rules.sides, rules.hand)
    if counted is not None:
        known.counted, known.counted_piles = counted.counted, counted.counted_piles
    return known


def _cards(wire: bytes) -> list[str]:
    """Every card of which the text stands anywhere in a frame, in whatever field.

    Faster than a regex: a text of digits and suit letters is a card, or looks like several.
    """
    texts = set(wire.translate(CARD_LETTERS).split())
    return [text.decode() for text in texts if not text.isdigit() and not text.isalpha()]


_counts: list[tuple[Count, bytes]] = []


def _encoded(count: Count) -> bytes:
    """A count as it stands in a frame; encoded once."""
    if not _counts or _counts[0][0] is not count:
        _counts[:] = [(count, msgspec.json.encode(count))]
    return _counts[0][1]


def test_cards_are_found_wherever_they_stand() -> None:
    wire = b'{"hand":["1D"],"10S":[["7C","2B"]],"x":"3D,4D","y":"5S6S","n":7,"name":"Carla"}'
    assert set(_cards(wire)) == {"1D", "10S", "7C", "2B", "3D", "4D", "5S6S"}


@pytest.mark.parametrize("bundle", range(BUNDLES))
def test_no_frame_holds_a_card_that_its_viewer_may_not_know(bundle: int) -> None:
    frames = voids = 0
    kinds: set[type[e.LogEvent]] = set()
    for seed in range(bundle, MATCHES, BUNDLES):
        watched = Watched(seed)
        watched.match()
        frames += watched.frames
        voids += watched.voids
        kinds |= watched.kinds
    assert frames > 50 * MATCHES / BUNDLES
    assert voids > 0 or MATCHES < 200
    assert kinds >= {e.FirstCardKept, e.FirstCardLaid, e.OpeningSwept, e.Declared} or MATCHES < 200
