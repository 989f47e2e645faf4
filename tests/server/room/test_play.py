"""Cards played: options, refusals in the protocol's order, the same card sent again."""

import random
from collections.abc import Iterator
from itertools import chain

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from support.tables import Table, duel, stack, stacked


def test_a_deal_begins() -> None:
    table = duel().start()
    view = table.view(0)
    assert (view.phase, view.match, view.deal, view.batch, view.turn) == ("playing", 1, 1, 1, 1)
    assert view.dealer is not None
    assert view.to_play == (view.dealer + 1) % 2
    assert (view.stock, len(view.table), view.recent, view.deals) == (30, 4, [], [])
    assert [seat.cards for seat in view.seats] == [3, 3]
    assert [side.score for side in view.sides] == [0, 0]
    nothing = [view.count, view.winner, view.proposal, view.first_card, view.matta]
    assert nothing == [None] * 5


def test_only_who_plays_sees_options() -> None:
    table = duel()
    stack(table, stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B"))
    table.start()
    shown = table.view(0)
    assert shown.options is not None
    assert shown.hand == ["2D", "5S", "7S"]
    found = {card: sorted(map(sorted, sets)) for card, sets in shown.options.items()}
    assert found == {
        "2D": [["2C"]],
        "5S": [["2C", "3C"]],
        "7S": [["3C", "4B"]],
    }
    assert not shown.options_cut
    assert table.view(1).options is table.view(None).options is None
    table.set(hints="off")
    assert table.view(0).options is None


@pytest.mark.parametrize("hints", ["options", "off", "memory"])
@pytest.mark.parametrize(
    ("card", "take", "code"),
    [
        ("3D", [], ErrorCode.NOT_IN_HAND),
        ("3D", ["1D"], ErrorCode.NOT_IN_HAND),
        ("2D", ["9D"], ErrorCode.NOT_ON_TABLE),
        ("5S", [], ErrorCode.MUST_CAPTURE),
        ("5S", ["4B"], ErrorCode.ILLEGAL_CAPTURE),
        ("2D", ["2C", "3C"], ErrorCode.ILLEGAL_CAPTURE),
    ],
)
def test_cards_that_cannot_be_played_so(
    card: str, take: list[str], code: ErrorCode, hints: str
) -> None:
    table = duel()
    stack(table, stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B"))
    table.start().set(hints=hints)
    refusal = table.refused(0, c.Play(deal=1, turn=1, card=card, take=take))
    assert refusal.code is code
    captures = code in {ErrorCode.MUST_CAPTURE, ErrorCode.ILLEGAL_CAPTURE}
    if not captures or hints == "off":
        assert refusal.details is None
        return
    listed = {"2D": [["2C"]], "5S": [["2C", "3C"]]}[card]
    assert refusal.details is not None
    assert sorted(map(sorted, refusal.details["options"])) == listed


def test_checks_come_in_the_protocols_order() -> None:
    """Each command is wrong in many ways; mending the first shows the next."""
    table = duel()
    stack(table, stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B"))
    table.start()
    table.do(0, c.Pause())

    def code(seat: int | None, deal: int, turn: int, card: str, *take: str) -> ErrorCode | None:
        return table.code(seat, c.Play(deal=deal, turn=turn, card=card, take=list(take)))

    assert code(None, 7, 7, "9B", "9D") is ErrorCode.NOT_SEATED
    assert code(1, 7, 7, "9B", "9D") is ErrorCode.PAUSED
    table.do(0, c.Unpause())
    assert code(1, 7, 1, "9B", "9D") is ErrorCode.STALE
    assert code(1, 1, 7, "9B", "9D") is ErrorCode.STALE
    assert code(1, 1, 1, "9B", "9D") is ErrorCode.NOT_YOUR_TURN
    assert code(0, 1, 1, "9B", "9D") is ErrorCode.NOT_IN_HAND
    assert code(0, 1, 1, "2D", "9D") is ErrorCode.NOT_ON_TABLE
    assert code(0, 1, 1, "2D", "3C") is ErrorCode.ILLEGAL_CAPTURE
    assert code(0, 1, 1, "2D") is ErrorCode.MUST_CAPTURE
    assert code(0, 1, 1, "2D", "2C") is None
    # The decision is past: the same is a success for who made it, anything else is stale.
    assert code(0, 1, 1, "2D", "2C") is None
    assert code(0, 1, 1, "5S", "2C") is ErrorCode.STALE
    assert code(1, 1, 1, "2D", "2C") is ErrorCode.STALE
    assert code(None, 1, 1, "2D", "2C") is ErrorCode.NOT_SEATED


def test_what_a_capture_takes_may_come_in_any_order_again() -> None:
    table = duel()
    stack(table, stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B"))
    table.start()
    table.do(0, c.Play(deal=1, turn=1, card="5S", take=["2C", "3C"]))
    assert table.do(0, c.Play(deal=1, turn=1, card="5S", take=["3C", "2C"])) == ()
    again = c.Play(deal=1, turn=1, card="5S", take=["2C"])
    assert table.refused(0, again).code is ErrorCode.STALE


def _plays(table: Table) -> Iterator[tuple[int, c.Play]]:
    chance = random.Random(6)
    while table.phase() == "playing":
        seat = table.room.to_play
        assert seat is not None
        command = table.legal(chance)
        table.do(seat, command)
        yield seat, command


def test_a_card_sent_again_is_known_until_the_next_deal_is_over() -> None:
    table = duel(target=50).start()
    sent = list(_plays(table))
    assert len(sent) == 36
    for phase in ("deal_over", "playing"):
        assert table.phase() == phase
        for seat, command in sent:
            assert table.do(seat, command) == ()
            other = 1 - seat
            wrong = ErrorCode.WRONG_PHASE if phase == "deal_over" else ErrorCode.STALE
            assert table.refused(other, command).code is wrong
        if phase == "deal_over":
            table.all_ready()


def test_a_card_sent_again_is_known_after_the_match_was_abandoned() -> None:
    table = duel(target=50).start()
    plays = _plays(table)
    sent = [next(plays) for _ in range(5)]
    table.do(0, c.EndMatch())
    for seat, command in sent:
        assert table.do(seat, command) == ()
    table.do(0, c.Start())
    for seat, command in sent:
        assert table.do(seat, command) == ()


def test_ready_sent_again_is_known_while_the_next_deal_is_played() -> None:
    table = duel(target=50).start().deal_out(random.Random(1))
    ready = c.Ready(deal=1)
    assert table.refused(0, c.Ready(deal=2)).code is ErrorCode.STALE
    for seat in (0, 1):
        assert table.do(seat, ready)
        assert table.do(seat, ready) == ()
    assert table.phase() == "playing"
    for seat in (0, 1):
        assert table.do(seat, ready) == ()
        assert table.refused(seat, c.Ready(deal=2)).code is ErrorCode.WRONG_PHASE


def test_a_table_of_many_captures_lists_the_fewest_cards_first_and_says_it_cut() -> None:
    table = Table(seed=1, variant="scopa", players=2, hand=5, must_capture=False)
    low = "1D 2D 1C 2C 1S 2S 1B 2B 3D 4D 3C 4C 3S 4S 3B 4B"
    table.shuffles = chain([stacked("10D 1D"), stacked(f"10S 9S 10C 9C 9B 8S 8C 8B 7D 7C {low}")])
    table.start()
    for _ in range(24):
        deal = table.room.deal
        assert deal is not None
        seat = table.room.to_play
        assert seat is not None
        view = table.view(seat)
        assert view.options is not None
        for sets in view.options.values():
            assert len(sets) <= 64
            assert [len(cards) for cards in sets] == sorted(len(cards) for cards in sets)
        if view.options_cut:
            assert max(map(len, view.options.values())) == 64
            return
        command = c.Play(deal=1, turn=deal.turn, card=deal.hands[seat][0], take=[])
        table.do(seat, command)
    raise AssertionError("nothing was ever cut")
