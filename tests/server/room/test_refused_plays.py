"""A refused play tells nothing of the cards: the same answer, after the same work, wherever."""

import random
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.rules import captures, deal
from scopa_server.rules.cards import DECK
from scopa_server.rules.presets import PRESETS
from support.tables import Table

OPTIONS = ("options", "off", "memory")


def in_mid_deal(variant: str) -> Iterator[Table]:
    """Tables of a preset at several moments of a deal."""
    for seed, turns in enumerate((0, 3, 9, 20)):
        chance = random.Random(seed)
        table = Table(seed=seed, variant=variant)
        table.set(hints=OPTIONS[seed % len(OPTIONS)])
        table.start()
        while table.room.phase == "playing" and table.room.asked is not None:
            table.play(chance)
        for _ in range(turns):
            table.play(chance)
        if table.room.phase == "playing":
            yield table


def where(table: Table, seat: int) -> dict[str, set[str]]:
    """Every card that a seat doesn't hold, by the place where it is."""
    now = table.room.deal
    assert now is not None
    places = {
        "hands": {card for other, hand in enumerate(now.hands) if other != seat for card in hand},
        "stock": set(now.deck[len(DECK) - now.stock :]),
        "table": set(now.table),
    }
    rest = set(DECK) - set(now.hands[seat]) - set().union(*places.values())
    return {**places, "gone": rest}


def tries(table: Table, card: str) -> Iterator[c.Play]:
    """A play of a card: laid, and with whatever it might take."""
    now = table.room.deal
    assert now is not None
    for take in ([], list(now.table[:1]), list(now.table), ["1D"], ["7D", "7C"]):
        yield c.Play(deal=table.room.deal_number, turn=now.turn, card=card, take=take)


@contextmanager
def at_once() -> Generator[None]:
    """Nothing is worked out of the cards: how long an answer takes tells nothing either."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("captures were worked out of a card that isn't held")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("options", "listing"):
            patch.setattr(captures, name, never)
        patch.setattr(deal, "outcome", never)
        yield


@pytest.mark.parametrize("variant", [*PRESETS])
def test_a_card_that_is_not_held_is_refused_alike_wherever_it_is(variant: str) -> None:
    places: set[str] = set()
    for table in [*in_mid_deal(variant)]:
        seat = table.room.to_play
        assert seat is not None
        for place, cards in where(table, seat).items():
            places |= {place} if cards else set()
            with at_once():
                refusals = [
                    table.refused(seat, play) for card in cards for play in tries(table, card)
                ]
            for refused in refusals:
                assert (refused.code, refused.details) == (ErrorCode.NOT_IN_HAND, None)
                assert refused.message == "You don't hold that card."
    assert places >= {"hands", "table"}


@pytest.mark.parametrize("variant", [*PRESETS])
def test_who_is_not_to_play_learns_only_whose_turn_it_is(variant: str) -> None:
    for table in in_mid_deal(variant):
        others: list[int | None] = [
            seat for seat in range(len(table.room.seats)) if seat != table.room.to_play
        ]
        for seat in others:
            answers = {
                (refused.code, refused.message, str(refused.details))
                for card in DECK
                for play in tries(table, card)
                for refused in [table.refused(seat, play)]
            }
            assert len(answers) == 1
            assert answers.pop()[0] is ErrorCode.NOT_YOUR_TURN
