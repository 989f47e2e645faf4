"""The course of a match: deals, counts, ends, commitments, and what the views say of them."""

import hashlib
import random
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import ErrorCode
from scopa_protocol.views import Proof
from scopa_server.room import events as e
from scopa_server.room.state import Shuffle
from scopa_server.rules.cards import DECK
from support.tables import Table, heard, shuffles


def verifies(commitment: str | None, proof: Proof) -> bool:
    """What a client checks (protocol, Proof of the shuffle)."""
    hashed = hashlib.sha256(bytes.fromhex(proof.salt) + proof.deck.encode("ascii"))
    return hashed.hexdigest() == commitment


def stacked(top: str, seed: int = 9) -> Shuffle:
    """A deck that begins with these cards."""
    first = top.split()
    rest = [card for card in DECK if card not in first]
    random.Random(seed).shuffle(rest)
    return Shuffle(deck=(*first, *rest), salt=f"{seed:064x}")


def stack(table: Table, *decks: Shuffle) -> None:
    """Have the dealer drawn as seat 1 of two, then these decks come."""
    draw = stacked("10D 1D")
    table.shuffles = chain([draw, *decks], shuffles(99))


def duel(target: int = 11, **rules: object) -> Table:
    """A table for two."""
    return Table(seed=8, variant="scopa", target=target, **rules)


def _to_the_end(table: Table) -> Table:
    chance = random.Random(1)
    while table.phase() != "match_over":
        table.step(chance)
    return table


# Playing


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


# The end of a deal and of a match


def test_a_deal_that_is_over_stays_as_it_was_counted() -> None:
    chance = random.Random(1)
    table = duel(target=50).start().deal_out(chance)
    view = table.view(0)
    assert (view.phase, view.to_play, view.turn, view.batch) == ("deal_over", None, 36, 6)
    assert (view.hand, view.options, view.table, view.stock) == ([], None, [], 0)
    assert view.count is not None
    assert view.count.deal == view.deal == 1
    assert [side.captured for side in view.sides] == [side.cards for side in view.count.sides]
    assert [side.scope for side in view.sides] == [side.scope for side in view.count.sides]
    assert [side.score for side in view.sides] == view.count.totals
    assert view.deals == [[side.total for side in view.count.sides]]
    assert sorted(card for side in view.count.sides for card in side.pile) == sorted(DECK)
    assert view.winner is None
    count = view.count
    table.all_ready()
    view = table.view(0)
    assert (view.phase, view.deal, view.turn, view.count) == ("playing", 2, 1, count)
    assert [side.captured for side in view.sides] == [0, 0]
    assert [side.score for side in view.sides] == count.totals
    assert not any(seat.ready for seat in view.seats)


def test_leftovers_that_count_as_a_scopa_have_no_card() -> None:
    for seed in range(40):
        table = Table(seed=seed, variant="scopa", target=50, leftovers_scopa=True).start()
        table.deal_out(random.Random(seed))
        view = table.view(None)
        assert view.count is not None
        if view.count.leftovers is not None:
            scope = [side.scope for side in view.sides]
            assert scope == [side.scope for side in view.count.sides]
            assert sum(scope) == sum(len(side.scope_cards) for side in view.sides) + 1
            return
    raise AssertionError("no deal left anything")


def test_a_match_that_is_won() -> None:
    table = _to_the_end(duel(target=3).start())
    view = table.view(1)
    assert view.winner is not None
    assert view.count is not None
    assert view.matches[-1].winner == view.winner
    assert view.matches[-1].totals == view.count.totals == [side.score for side in view.sides]
    assert not view.matches[-1].abandoned
    assert (view.to_play, view.commitment, view.paused_by) == (None, None, None)
    assert view.turn == 36
    assert sum(side.captured for side in view.sides) == 40


def test_the_next_match_starts_afresh() -> None:
    table = _to_the_end(duel(target=2).start())
    ended = table.view(0)
    before = table.room
    events = table.do(0, c.Start())
    kinds = [type(event) for event in events]
    assert kinds[:3] == [e.MatchStarted, e.DealerDrawn, e.Shuffled]
    draws = [item for _, item in heard(before, events, 0) if isinstance(item, told.DealerDrawn)]
    values = [int(card[:-1]) for _, card in draws[0].draws[-2:]]
    assert draws[0].draws[-2:][values.index(min(values))][0] == draws[0].dealer
    view = table.view(0)
    assert view.dealer == draws[0].dealer
    assert (view.match, view.deal, view.winner) == (2, ended.deal + 1, None)
    assert (view.deals, [side.score for side in view.sides]) == ([], [0, 0])
    assert view.count == ended.count
    assert view.matches == ended.matches


@pytest.mark.parametrize("deals", [0, 1])
@pytest.mark.parametrize("plays", [0, 1, 20])
def test_an_abandoned_match(deals: int, plays: int) -> None:
    chance = random.Random(1)
    table = duel(target=50).start()
    for _ in range(deals):
        table.deal_out(chance)
        table.all_ready()
    for _ in range(plays):
        table.play(chance)
    totals = list(table.room.totals)
    table.do(0, c.EndMatch())
    view = table.view(0)
    assert (view.phase, view.deal) == ("match_over", deals + 1)
    assert (view.turn, view.batch, view.stock) == (0, 0, 0)
    assert [(side.captured, side.scope, side.scope_cards) for side in view.sides] == [
        (0, 0, [])
    ] * 2
    assert (view.hand, view.table, view.recent) == ([], [], [])
    assert [view.count, view.winner, view.to_play, view.commitment] == [None] * 4
    assert [(r.winner, r.totals, r.abandoned) for r in view.matches] == [(None, totals, True)]
    assert [seat.cards for seat in view.seats] == [0, 0]
    table.do(0, c.Start())
    assert table.view(0).deal == deals + 2


def test_a_match_abandoned_between_deals() -> None:
    table = duel(target=50).start().deal_out(random.Random(1))
    totals = list(table.room.totals)
    table.do(0, c.Pause())
    table.do(0, c.EndMatch())
    view = table.view(0)
    assert (view.count, view.turn, view.commitment, view.paused_by) == (None, 0, None, None)
    assert view.matches[-1].totals == totals


def test_with_the_match_over_vacant_seats_are_empty_and_who_waited_sits() -> None:
    table = Table(seed=1, variant="scopa", players=3).start()
    table.do(1, c.Leave())
    table.do(2, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", seat=2, token="n" * 22))
    table.do(0, c.EndMatch())
    kinds = [(seat.kind, seat.name, seat.reserved) for seat in table.view(None).seats]
    assert kinds == [("person", "Anna", None), ("empty", None, None), ("person", "Nina", None)]
    assert table.refused(0, c.Start()).code is ErrorCode.SEATS_EMPTY


def test_the_result_stays_while_only_the_rules_of_the_next_match_change() -> None:
    table = _to_the_end(duel(target=2).start())
    ended = table.view(0)
    table.do(0, c.Configure(rules={"target": 7}))
    view = table.view(0)
    assert view.rules.target == 7
    assert (view.winner, view.sides, view.deals, view.count, view.turn) == (
        ended.winner,
        ended.sides,
        ended.deals,
        ended.count,
        ended.turn,
    )
    table.do(0, c.Configure(rules={"variant": "scopa", "players": 3}))
    view = table.view(0)
    assert (view.winner, view.turn, view.deals) == (None, 0, [])
    assert [(side.score, side.captured) for side in view.sides] == [(0, 0)] * 3
    assert view.matches == ended.matches
    assert view.count == ended.count


# Void deals and the proof of the shuffle

VOID = "2D 3D 5S 6S 7S 8S 10D 10C 10S 4B"


def test_a_void_deal_is_shown_whole_and_uses_a_number() -> None:
    table = duel()
    void, good = stacked(VOID, 1), stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B", 2)
    stack(table, void, void, good)
    table.fill()
    before = table.room
    events = table.do(0, c.Start())
    said = [item for _, item in heard(before, events, 0) if isinstance(item, told.DealVoided)]
    assert [item.deal for item in said] == [1, 2]
    for item in said:
        assert item.table == ["10D", "10C", "10S", "4B"]
        assert item.hands == [["2D", "5S", "7S"], ["3D", "6S", "8S"]]
        assert item.proof == Proof(salt=void.salt, deck=",".join(void.deck))
    view = table.view(0)
    assert (view.deal, view.dealer, view.hand) == (3, 1, ["2D", "5S", "7S"])
    assert verifies(view.commitment, Proof(salt=good.salt, deck=",".join(good.deck)))


def test_a_void_deal_may_pass_the_deal_on() -> None:
    table = duel(void_dealer="next")
    void, good = stacked(VOID, 1), stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B", 2)
    stack(table, void, good)
    table.start()
    assert (table.view(0).deal, table.view(0).dealer) == (2, 0)


def test_a_void_deal_between_deals_was_committed_to() -> None:
    table = duel(target=50).fill()
    void, good = stacked(VOID, 1), stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B", 2)
    table.shuffles = chain([stacked("10D 1D"), good, void, good], shuffles(3))
    table.do(0, c.Start())
    table.deal_out(random.Random(1))
    commitment = table.view(0).commitment
    ready = c.Ready(deal=1)
    table.do(0, ready)
    before = table.room
    events = table.do(1, ready)
    said = [item for _, item in heard(before, events, 0) if isinstance(item, told.DealVoided)]
    assert len(said) == 1
    assert verifies(commitment, said[0].proof)
    assert table.view(0).deal == 3
    assert table.view(0).dealer == 0
    assert table.do(0, ready) == ()


@pytest.mark.parametrize("variant", ["scopa", "scopone", "scopone_scientifico"])
def test_every_deal_was_committed_to(variant: str) -> None:
    chance = random.Random(2)
    table = Table(seed=7, variant=variant, target=5).start()
    commitment = table.view(None).commitment
    assert commitment is not None
    while table.phase() != "match_over":
        table.step(chance)
        view = table.view(chance.choice([None, 0, 1]))
        if table.phase() == "playing":
            assert view.commitment == commitment
            continue
        assert view.count is not None
        assert verifies(commitment, view.count.proof)
        assert not verifies(view.commitment, view.count.proof)
        commitment = view.commitment


def test_a_client_can_deal_the_proof_again() -> None:
    table = duel(target=50).start()
    hand, lying, dealer = table.view(0).hand, table.view(0).table, table.room.dealer
    table.deal_out(random.Random(1))
    count = table.view(0).count
    assert count is not None
    assert dealer is not None
    deck = count.proof.deck.split(",")
    assert sorted(deck) == sorted(DECK)
    first = (dealer + 1) % 2
    assert hand == deck[(0 - first) % 2 : 6 : 2]
    assert lying == deck[6:10]


def test_everybody_ready_deals_and_only_then() -> None:
    table = Table(seed=2, variant="scopa", players=3, target=50).start()
    table.deal_out(random.Random(1))
    table.do(0, c.Ready(deal=1))
    assert [seat.ready for seat in table.view(None).seats] == [True, False, False]
    table.online -= {2}
    table.do(1, c.Ready(deal=1))
    assert table.phase() == "playing"


def _views(table: Table) -> list[Any]:
    return [table.view(seat) for seat in (None, *range(len(table.room.seats)))]


def test_everybody_sees_the_same_but_for_what_is_their_own() -> None:
    table = Table(seed=2).start()
    views = _views(table)
    for view in views:
        assert (view.table, view.sides, view.seats) == (
            views[0].table,
            views[0].sides,
            views[0].seats,
        )
    assert [view.you for view in views] == [None, 0, 1, 2, 3]
    assert sorted(card for view in views[1:] for card in view.hand) == sorted(DECK)
