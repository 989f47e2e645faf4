"""Every preset for every number of players and sides, and house rules at random: whole matches."""

import random
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scopa_protocol import commands as c
from scopa_protocol.proof import faults
from scopa_server.room.context import Actor
from scopa_server.room.decide import decide
from scopa_server.room.events import Events, read_events
from scopa_server.room.history import Chronicle
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from scopa_server.room.stored import dump, load
from scopa_server.rules.cards import DECK
from scopa_server.rules.presets import PRESETS
from scopa_server.rules.record import SIDES, Rules
from support.games import any_rules
from support.tables import Table

SMALL = 6
"""Cards on a table of which every set is tried."""
STEPS = 4000
"""More than any match here may take."""


def tables() -> Iterator[tuple[str, int, int]]:
    """Every preset, with every number of players and sides."""
    for variant, preset in PRESETS.items():
        for players in preset.allowed_players:
            for sides in preset.allowed_sides or SIDES[players]:
                yield variant, players, sides


def playable() -> list[tuple[str, int, int]]:
    """Those that the record allows: a first card is chosen between two sides."""
    return [game for game in tables() if game[0] != "chkobba" or game[2] == 2]


class Match:
    """A match of which every step is looked at."""

    def __init__(self, chance: random.Random, **rules: object) -> None:
        self.chance = chance
        self.table = Table(chance.randrange(2**32), **rules).fill()

    def run(self, most: int = STEPS) -> None:
        """Play until it is over; after so many steps the host ends it."""
        self.do(0, c.Start())
        for _ in range(most):
            if not self.table.room.in_match:
                return
            self.step()
        assert most < STEPS, "this match never ends"
        self.do(0, c.EndMatch())

    def step(self) -> None:
        """Let everybody do the next thing, each command sent twice."""
        room = self.table.room
        if room.phase == "deal_over":
            for seat in range(len(room.seats)):
                if self.table.room.phase == "deal_over":
                    self.do(seat, c.Ready(deal=room.deal_number))
            return
        if room.asked is not None:
            keep = self.chance.random() < 0.5
            self.do(room.asked, c.FirstCard(deal=room.deal_number, keep=keep))
            return
        self._declare(room)
        self._options()
        self.do(room.to_play, self.table.legal(self.chance))

    def _declare(self, room: Room) -> None:
        for seat in range(len(room.seats)):
            offered = self.table.view(seat).declarations
            if offered and self.chance.random() < 0.5:
                chosen = self.chance.choice(offered)
                kind: Any = chosen.kind
                command = c.Declare(
                    deal=room.deal_number,
                    batch=self.table.view(seat).batch,
                    kind=kind,
                    matta=chosen.matta,
                )
                self.do(seat, command)
                assert self.table.view(seat).declarations == []

    def do(self, seat: int | None, command: c.Command) -> Events:
        """Do something, look at the room, and do it again."""
        events = self.table.do(seat, command)
        assert events
        _conserved(self.table.room)
        assert load(dump(self.table.room)) == self.table.room
        before = self.table.room
        assert self.table.do(seat, command) == ()
        assert self.table.room is before
        return events

    def _options(self) -> None:
        """What is listed for the seat to play is what is accepted, on tables small enough."""
        room = self.table.room
        seat = room.to_play
        view = self.table.view(seat)
        if seat is None or view.options is None or len(view.table) > SMALL:
            return
        for card, sets in view.options.items():
            accepted = [
                take for take in _subsets(view.table) if self._accepts(seat, room, card, take)
            ]
            listed = [set(cards) for cards in sets]
            if not sets or not room.rules.must_capture:
                listed.append(set())
            assert sorted(map(sorted, accepted)) == sorted(map(sorted, listed))

    def _accepts(self, seat: int, room: Room, card: str, take: list[str]) -> bool:
        assert room.deal is not None
        play = c.Play(deal=room.deal_number, turn=room.deal.turn, card=card, take=take)
        try:
            decide(room, Actor(seat), play, self.table.context)
        except Refused:
            return False
        return True


def _subsets(cards: list[str]) -> Iterator[list[str]]:
    sizes = range(len(cards) + 1)
    return map(list, chain.from_iterable(combinations(cards, size) for size in sizes))


def _conserved(room: Room) -> None:
    """Every card is in one place."""
    deal = room.deal
    if deal is not None:
        stock = deal.deck[len(DECK) - deal.stock :]
        places = (*deal.hands, deal.table, *deal.piles, stock)
        assert sorted(chain.from_iterable(places)) == sorted(DECK)


def _chronicled(table: Table) -> int:
    """How many deals the history of a table tells, each as its deck has it."""
    told = Chronicle("TESTROOM")
    for number, (at, payload) in enumerate(table.log, 1):
        told.note(number, at, read_events(payload))
    assert told.room == table.room
    for deal in told.deals.values():
        assert faults(deal) == []
        points = [0] * deal.rules.sides
        for declared in deal.declared:
            points[declared.seat % deal.rules.sides] += declared.points
        sides = deal.count.sides if deal.count else []
        counted = [side.points.get("declarations", 0) for side in sides]
        assert counted == (points if deal.count else [])
    return len(told.deals)


@pytest.mark.parametrize(("variant", "players", "sides"), playable())
def test_every_preset_is_played_to_its_end(variant: str, players: int, sides: int) -> None:
    chance = random.Random(f"{variant} {players} {sides}")
    match = Match(chance, variant=variant, players=players, sides=sides, target=2)
    match.run()
    assert match.table.room.phase == "match_over"
    assert match.table.room.winner is not None
    assert _chronicled(match.table) == match.table.room.deal_number


def _asked(rules: Rules) -> dict[str, Any]:
    return {name: getattr(rules, name) for name in rules.__dataclass_fields__}


@settings(max_examples=40, deadline=None)
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_any_legal_house_rules_are_played(rules: Rules, seed: int) -> None:
    match = Match(random.Random(seed), **{**_asked(rules), "target": 1})
    # Rules may be such that hardly anything scores.
    match.run(most=90)
    assert match.table.room.phase == "match_over"
    assert _chronicled(match.table) <= match.table.room.deal_number
