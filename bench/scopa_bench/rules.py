"""The rules alone: whole random deals of Scopone scientifico, the options listed at every turn."""

import random
import time
from statistics import median
from typing import Final

from scopa_server.rules import captures, count
from scopa_server.rules import deal as deals
from scopa_server.rules.cards import DECK
from scopa_server.rules.record import build

from .results import Figure

RULES: Final = build("scopone_scientifico", {})
PLAYS: Final = 40
LOW: Final = tuple(card for card in DECK if card[:-1] in {"1", "2", "3", "4", "5"})
"""The table with the most sets to take: these twenty, for a ten."""


def measure(rounds: int, seconds: float) -> list[Figure]:
    """Medians of some rounds, and the longest list of options there can be."""
    chance = random.Random(7)
    rates = [_deals_a_second(chance, seconds) for _ in range(rounds)]
    each = median(rates)
    return [
        Figure(name="rules: whole deals", value=round(each, 1), unit="/s"),
        Figure(name="rules: plays, options listed", value=round(each * PLAYS), unit="/s"),
        Figure(name="rules: lists of options", value=round(_listings(chance, seconds)), unit="/s"),
        Figure(name="rules: the longest list of options", value=_longest_ms(), unit="ms"),
    ]


def _deals_a_second(chance: random.Random, seconds: float) -> float:
    start, done = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < seconds:
        play_deal(chance)
        done += 1
    return done / passed


def play_deal(chance: random.Random) -> deals.Deal:
    """Deal, play 40 cards by chance, and count."""
    deck = list(DECK)
    chance.shuffle(deck)
    deal = deals.begin(RULES, 0, deck)
    while deal.to_play is not None:
        options = captures.listing(RULES, deal.hands[deal.to_play], deal.table)
        card, sets = chance.choice(list(options.items()))
        take = chance.choice(sets) if sets else ()
        deal = deals.play(deal, deals.outcome(deal, card, take))
    count.count_deal(RULES, count.facts(deal))
    return deals.finish(deal)


def _listings(chance: random.Random, seconds: float) -> float:
    """Lists of a hand's options a second, at tables as they come up in play."""
    tables = [(hand, table) for _ in range(20) for hand, table in _tables(chance)]
    start, done = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < seconds:
        for hand, table in tables:
            captures.listing(RULES, hand, table)
        done += len(tables)
    return done / passed


def _tables(chance: random.Random) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    deck = list(DECK)
    chance.shuffle(deck)
    deal, found = deals.begin(RULES, 0, deck), []
    while deal.to_play is not None:
        hand = deal.hands[deal.to_play]
        found.append((hand, deal.table))
        card, sets = chance.choice(list(captures.listing(RULES, hand, deal.table).items()))
        deal = deals.play(deal, deals.outcome(deal, card, chance.choice(sets) if sets else ()))
    return found


def _longest_ms() -> float:
    times = []
    for _ in range(21):
        start = time.perf_counter()
        captures.listing(RULES, ("10D",), LOW)
        times.append(time.perf_counter() - start)
    return round(median(times) * 1e3, 3)
