"""Rooms that differ only in cards a viewer can't see give that viewer the same frames."""

import random
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON
from scopa_server.room import events as e
from scopa_server.room.apply import apply
from scopa_server.room.context import Actor
from scopa_server.room.decide import decide
from scopa_server.room.project import Scene, project
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room, Shuffle
from scopa_server.room.tell import tell
from scopa_server.rules.cards import DECK
from support.tables import Table
from support.wander import DEALING

KINDS: list[Literal["low", "three", "both"]] = ["low", "three", "both"]
GAMES: list[dict[str, Any]] = [
    *({"variant": "scopa", "players": players} for players in range(2, 7)),
    {"variant": "scopone"},
    {"variant": "scopone_scientifico"},
    *DEALING,
]


def _unseen(room: Room, viewer: int | None) -> set[str]:
    """The cards of the running deal that a viewer has not seen."""
    deal = room.deal
    assert deal is not None
    hidden = set(deal.deck[len(DECK) - deal.stock :])
    open_hands = {done.seat for done in deal.declared if done.batch == deal.batch}
    for seat, hand in enumerate(deal.hands):
        hidden |= set(hand) if seat not in {viewer, *open_hands} else set()
    asked = (deal.dealer + 1) % room.rules.players
    return hidden - {deal.deck[0]} if deal.batch == 0 and asked == viewer else hidden


def _other(shuffle: Shuffle, unseen: set[str], chance: random.Random) -> Shuffle:
    """The same deck, but for the order of what was not seen."""
    places = [place for place, card in enumerate(shuffle.deck) if card in unseen]
    deck = list(shuffle.deck)
    for place, other in zip(places, chance.sample(places, len(places)), strict=True):
        deck[place] = shuffle.deck[other]
    return Shuffle(deck=tuple(deck), salt=chance.randbytes(32).hex())


def _frames(events: list[e.LogEvent], viewer: int | None) -> tuple[list[bytes], Room]:
    """Every view and told event of a log, the commitment masked: it must differ."""
    room = Room(code="TESTROOM")
    frames: list[bytes] = []
    for event in events:
        after = apply(room, event, 0)
        frames.append(JSON.encode(tell(event, room, after)))
        # A commit's events show together: within it the next deal may not be there yet.
        view = project(after, viewer, Scene(log="log"))
        frames.append(JSON.encode(msgspec.structs.replace(view, commitment=None)))
        room = after
    return frames, room


def _answers(room: Room, viewer: int | None) -> list[tuple[str, Any]]:
    """What a viewer learns by trying to play every card, and whatever else there is."""
    table = Table()
    answers: list[tuple[str, Any]] = []
    assert room.deal is not None
    tried: list[c.Command] = [
        c.Declare(deal=room.deal_number, batch=room.deal.batch, kind=kind, matta=matta)
        for kind in KINDS
        for matta in (None, *range(1, 11))
    ]
    tried += [
        c.Play(deal=room.deal_number, turn=room.deal.turn, card=card, take=take)
        for card in DECK
        for take in ([], list(room.deal.table)[:1])
    ]
    for command in tried:
        try:
            decide(room, Actor(viewer, name="Ugo"), command, table.context)
        except Refused as refusal:
            answers.append((refusal.code, refusal.details))
    return answers


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(0, 80), game=st.sampled_from(GAMES))
def test_cards_that_are_not_seen_change_no_frame(
    seed: int, steps: int, game: dict[str, Any]
) -> None:
    chance = random.Random(seed)
    table = Table(seed=seed, target=11, **game)
    table.set(hints=chance.choice(["options", "off", "memory"]), talk="always")
    table.start()
    for _ in range(steps):
        if table.room.in_match:
            table.step(chance)
    if table.room.phase != "playing":
        return
    viewer = chance.choice([None, *range(len(table.room.seats))])
    _compare(table, viewer, chance)


def _compare(table: Table, viewer: int | None, chance: random.Random) -> None:
    assert table.room.shuffle is not None
    other = _other(table.room.shuffle, _unseen(table.room, viewer), chance)
    frames, room = _frames(_events(table), viewer)
    others_frames, other_room = _frames(_events(table, other), viewer)
    assert others_frames == frames
    assert _answers(other_room, viewer) == _answers(room, viewer)


def _events(table: Table, other: Shuffle | None = None) -> list[e.LogEvent]:
    """A table's log, if asked with another deck for the running deal."""
    events = [event for _, payload in table.log for event in e.read_events(payload)]
    if other is not None:
        at = max(n for n, event in enumerate(events) if isinstance(event, e.Shuffled))
        events[at] = e.Shuffled(shuffle=other)
    return events


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_the_next_deck_changes_nothing_but_its_commitment(viewer: int | None) -> None:
    chance = random.Random(5)
    table = Table(seed=5, variant="scopa").start().deal_out(chance)
    room = table.room
    assert room.next_shuffle is not None
    other = _other(room.next_shuffle, set(DECK), chance)
    shown = project(room, viewer, Scene(log="log"))
    also = project(msgspec.structs.replace(room, next_shuffle=other), viewer, Scene(log="log"))
    assert shown.commitment != also.commitment
    assert msgspec.structs.replace(also, commitment=shown.commitment) == shown


def test_the_comparison_notices_a_card_that_is_seen() -> None:
    table = Table(seed=1, variant="scopa").start()
    assert table.room.deal is not None
    assert table.room.shuffle is not None
    held, lying = table.room.deal.hands[0][0], table.room.deal.table[0]
    swap = {held: lying, lying: held}
    shuffle = table.room.shuffle
    other = Shuffle(deck=tuple(swap.get(card, card) for card in shuffle.deck), salt=shuffle.salt)
    assert _frames(_events(table, other), 0)[0] != _frames(_events(table), 0)[0]
