"""What a log tells of its finished deals, and that it tells nothing of others."""

import random
from typing import Any

import msgspec
import pytest

from scopa_protocol import commands as c
from scopa_protocol.codec import CODECS
from scopa_protocol.frames import HistoryFrame
from scopa_protocol.history import HistoryDeal
from scopa_protocol.proof import faults
from scopa_server.room import events as e
from scopa_server.room import history
from scopa_server.room.history import Chronicle
from scopa_server.room.project import commitment
from scopa_server.room.state import Shuffle
from scopa_server.rules.cards import DECK
from support import recount
from support.tables import Table
from support.wander import wander

GAMES: list[dict[str, Any]] = [
    {"variant": "scopa", "players": 3},
    {"variant": "scopa", "players": 5, "void_deal": "two_aces"},
    {"variant": "scopone", "void_deal": "two_aces", "void_dealer": "next"},
    {"variant": "scopone_scientifico"},
    {"variant": "asso_piglia_tutto", "scopa_value": "cards", "leftovers_scopa": True},
    {"variant": "escoba", "players": 4},
    {"variant": "cirulla"},
    {"variant": "cirulla", "players": 4},
    {"variant": "chkobba", "void_deal": "two_aces"},
]


def match(game: dict[str, Any], seed: int, target: int = 7) -> Table:
    """A whole match."""
    chance = random.Random(seed)
    table = Table(seed=seed, **{"target": target, **game}).start()
    while table.phase() != "match_over":
        table.step(chance)
    return table


def wired(past: Chronicle) -> list[HistoryDeal]:
    """The deals as a client reads them."""
    frame = HistoryFrame(re=1, deals=list(past.deals.values()), next=None)
    for codec in CODECS.values():
        assert codec.decode_frame(codec.encode(frame)) == frame
    return frame.deals


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("game", GAMES, ids=lambda game: "-".join(map(str, game.values())))
def test_a_matchs_deals_can_be_counted_by_anybody(game: dict[str, Any], seed: int) -> None:
    table = match(game, seed)
    deals = wired(table.past())
    assert [deal.deal for deal in deals] == list(range(1, table.room.deal_number + 1))
    assert {deal.match for deal in deals} == {1}
    assert [fault for deal in deals for fault in faults(deal)] == []
    counted = [deal for deal in deals if not deal.void]
    rules = table.view(None).rules
    assert [deal.rules for deal in deals] == [rules] * len(deals)
    assert [d.count.totals for d in counted if d.count] == recount.totals(rules, counted)
    assert recount.winner(rules, counted) == table.room.winner
    for deal in counted:
        piles = [side.pile for side in recount.played_out(rules, deal)]
        assert deal.count is not None
        assert [set(side.pile) for side in deal.count.sides] == piles
        assert (deal.count.deal, deal.count.proof) == (deal.deal, deal.proof)


def test_it_tells_what_everybody_heard() -> None:
    table = match({"variant": "chkobba"}, 3)
    events = [event for _, page in table.log for event in e.read_events(page)]
    plays = [event.play for event in events if isinstance(event, e.Played)]
    told = [play for deal in table.past().deals.values() for play in deal.plays]
    assert told == [(play.seat, play.card, list(play.take), play.scopa) for play in plays]
    choices = [
        isinstance(event, e.FirstCardKept)
        for event in events
        if isinstance(event, e.FirstCardKept | e.FirstCardLaid)
    ]
    first = [deal.first_card for deal in table.past().deals.values()]
    assert [one.kept for one in first if one] == choices


def test_cirulla_tells_declarations_and_sweeps_of_the_opening() -> None:
    declared = swept = 0
    for seed in range(12):
        table = match({"variant": "cirulla"}, seed, target=20)
        events = [event for _, page in table.log for event in e.read_events(page)]
        hands = [event.declared for event in events if isinstance(event, e.Declared)]
        opened = [event.cards for event in events if isinstance(event, e.OpeningSwept)]
        deals = list(table.past().deals.values())
        assert [
            (hand.seat, hand.batch, hand.kind, hand.points) for d in deals for hand in d.declared
        ] == [(hand.seat, hand.batch, hand.kind, hand.points) for hand in hands]
        sweeps = [deal.opening_swept for deal in deals if deal.opening_swept]
        assert [tuple(sweep.cards) for sweep in sweeps] == opened
        declared, swept = declared + len(hands), swept + len(opened)
    assert declared > 10
    assert swept > 3


def test_a_void_deal_is_told_at_once() -> None:
    for seed in range(200):
        table = Table(seed=seed, variant="scopa", players=5, void_deal="two_aces").start()
        deals = table.past().deals
        assert list(deals) == list(range(1, table.room.deal_number))
        for deal in deals.values():
            assert (deal.void, deal.plays, deal.count) == (True, [], None)
            assert sum(card.startswith("1") and len(card) == 2 for card in deal.table) >= 2
            assert faults(deal) == []
        if len(deals) > 1:
            return
    raise AssertionError("no deal was void twice")


def test_an_abandoned_deal_is_not_told() -> None:
    table = Table(seed=1, variant="scopa", target=50).start().deal_out(random.Random(1))
    table.all_ready()
    table.play(random.Random(1))
    table.do(0, c.EndMatch())
    assert list(table.past().deals) == [1]
    table.do(0, c.Start())
    table.deal_out(random.Random(2))
    deals = table.past().deals
    assert [(deal.deal, deal.match) for deal in deals.values()] == [(1, 1), (3, 2)]
    assert deals[3].count is not None
    assert faults(deals[3]) == []


def test_after_a_rescoring_deals_stand_as_they_count() -> None:
    game = {"variant": "asso_piglia_tutto", "target": 50}
    chance = random.Random(2)
    table = Table(seed=2, **game).start()
    while len(table.room.finished) < 3:
        table.step(chance)
    before = table.past().deals
    scope = sum(play[3] for deal in before.values() for play in deal.plays)
    table.do(0, c.Propose(rules={"ace_scopa": False, "last_card_scopa": True, "napola": "run"}))
    table.do(1, c.Answer(proposal=1, agree=True))
    after = table.past().deals
    rules = table.view(None).rules
    assert [deal.rules for deal in after.values()] == [rules] * 3
    assert [d.count.totals for d in after.values() if d.count] == recount.totals(
        rules, list(after.values())
    )
    assert sum(play[3] for deal in after.values() for play in deal.plays) != scope
    for number, deal in after.items():
        assert deal.proof == before[number].proof
        assert (deal.deals, deal.table) == (before[number].deals, before[number].table)
    # Those of matches before it stay as they ended.
    table.do(0, c.EndMatch())
    table.do(0, c.Start())
    table.deal_out(chance)
    table.do(0, c.Propose(rules={"napola": "off"}))
    table.do(1, c.Answer(proposal=2, agree=True))
    assert [deal.rules.napola for deal in table.past().deals.values()] == ["run"] * 3 + ["off"]


# Secrets


def _events(table: Table) -> list[e.LogEvent]:
    return [event for _, page in table.log for event in e.read_events(page)]


@pytest.mark.parametrize("seed", range(8))
def test_salts_and_decks_that_are_not_public_are_not_in_it(seed: int) -> None:
    rules = {"variant": "chkobba" if seed % 2 else "scopa", "target": 3, "void_deal": "two_aces"}
    table = Table(seed=seed, **rules)
    if seed % 4 > 1:
        table.fill()
    seen = 0
    for _ in wander(table, seed, 250):
        room = table.room
        past = table.past()
        frame = HistoryFrame(re=1, deals=list(past.deals.values()), next=None)
        wire = msgspec.json.encode(frame)
        running = [room.shuffle] if room.phase == "playing" else []
        for shuffle in filter(None, [*running, room.next_shuffle]):
            seen += 1
            for secret in (shuffle.salt, ",".join(shuffle.deck), commitment(shuffle)):
                assert secret.encode() not in wire
        assert room.deal_number not in past.deals or room.phase != "playing"
    assert seen > 20


@pytest.mark.parametrize("steps", [3, 30, 60])
def test_another_deck_for_the_running_deal_tells_the_same(steps: int) -> None:
    chance = random.Random(steps)
    table = Table(seed=4, variant="scopa", target=50).start()
    for _ in range(steps):
        table.step(chance)
    events = _events(table)
    at = max(n for n, event in enumerate(events) if isinstance(event, e.Shuffled))
    other = Shuffle(deck=tuple(chance.sample(DECK, 40)), salt="ab" * 32)
    upto = next(
        (n for n, event in enumerate(events) if n > at and isinstance(event, e.Played)),
        len(events),
    )
    pasts = [Chronicle("TESTROOM") for _ in range(2)]
    swapped = [*events[:at], e.Shuffled(shuffle=other), *events[at + 1 : upto]]
    for past, told in zip(pasts, (events[:upto], swapped), strict=True):
        past.note(1, 0, tuple(told))
    assert pasts[0].deals == pasts[1].deals


# Pages


def test_the_latest_are_kept_whole_and_all_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LATEST", 3)
    table = match({"variant": "scopa"}, 1, target=30)
    number = table.room.deal_number
    past = table.past()
    assert number > 6
    assert list(past.deals) == [number - 2, number - 1, number]
    assert past.numbers(0, 2) == ([1, 2], 3)
    assert past.numbers(number - 1, 2) == ([number - 1, number], None)
    assert past.numbers(number + 1, 2) == ([], None)
    assert past.numbers(2, 99) == (list(range(2, number + 1)), None)
    assert list(table.past(frozenset({2, 5})).deals) == [2, 5]


def test_older_deals_that_are_not_kept_are_no_hindrance_to_a_rescoring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "LATEST", 1)
    chance = random.Random(2)
    table = Table(seed=2, variant="scopa", target=101).start()
    while len(table.room.finished) < 3:
        table.step(chance)
    table.do(0, c.Propose(rules={"primiera": "off"}))
    table.do(1, c.Answer(proposal=1, agree=True))
    past = table.past()
    assert list(past.deals) == [3]
    assert past.deals[3].count == table.room.count
    assert table.past(frozenset({1})).deals[1].rules.primiera == "off"
