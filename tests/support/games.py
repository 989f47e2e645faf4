"""Rules and deals at random, for properties that hold whatever is played."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

from scopa_server.rules import declare, opening
from scopa_server.rules.captures import listing
from scopa_server.rules.cards import DECK
from scopa_server.rules.deal import (
    Deal,
    Play,
    begin,
    is_over,
    is_void,
    needs_batch,
    next_batch,
    outcome,
    play,
)
from scopa_server.rules.record import SIDES, Rules, build

_TURN: Mapping[str, tuple[Any, ...]] = {
    "capture": ("sum", "fifteen", "sum_or_fifteen"),
    "equal_first": (True, False),
    "fewest": (False, True),
    "must_capture": (True, False),
    "ace_sweeps": (False, True),
    "ace_scopa": (False, True),
    "ace_on_ace": ("takes_ace", "sweeps"),
    "last_card_scopa": (False, True),
    "leftovers_scopa": (False, True),
}

_COUNT: Mapping[str, tuple[Any, ...]] = {
    "scopa_value": ("one", "card", "cards"),
    "napola": ("off", "run", "three"),
    "grande": (False, True),
    "re_bello": (False, True),
    "settecoppe": (False, True),
    "all_sevens": (False, True),
    "ties": ("nobody", "everyone"),
    "primiera": ("scale", "faces_zero", "sevens", "sevens_sixes", "off"),
    "primiera_short": ("out", "counted"),
}


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Draw playable rules of every kind that shapes a deal or its count."""
    players = draw(st.integers(2, 6))
    chosen: dict[str, object] = {
        name: draw(st.sampled_from(values)) for name, values in {**_TURN, **_COUNT}.items()
    }
    if chosen["ace_sweeps"]:
        chosen["ace_on_empty"] = draw(st.sampled_from(("stays", "takes_itself")))
    chosen["players"] = players
    chosen["sides"] = draw(st.sampled_from(SIDES[players]))
    chosen["hand"] = draw(st.one_of(st.just(3), st.integers(1, 40 // players)))
    chosen["napola_cap"] = draw(st.integers(3, 10))
    return build("scopa", {**chosen, **draw(_dealing(chosen))})


@st.composite
def _dealing(draw: st.DrawFn, chosen: Mapping[str, Any]) -> dict[str, object]:
    """Draw how cards are dealt and what follows at once, as far as it goes together."""
    hand, players, sides = chosen["hand"], chosen["players"], chosen["sides"]
    dealing: dict[str, object] = {
        "void_deal": draw(st.sampled_from(("three_kings", "two_aces", "never"))),
        "void_dealer": draw(st.sampled_from(("same", "next"))),
        "opening_sweep": draw(st.booleans()) and 40 % (hand * players) > 0,
        "first_card_choice": draw(st.booleans()) and (hand, sides) == (3, 2),
        "declarations": draw(st.booleans()) and hand == 3,
    }
    dealing["declare_both"] = draw(st.booleans()) and dealing["declarations"]
    bonuses = dealing["declarations"] or dealing["opening_sweep"]
    dealing["matta"] = draw(st.booleans()) and bonuses
    return dealing


def random_play(deal: Deal, chance: random.Random) -> Play:
    """Choose any legal play."""
    assert deal.to_play is not None
    hand = deal.hands[deal.to_play]
    offered = listing(deal.rules, hand, deal.table, matta=deal.named)
    card = chance.choice(hand)
    takes = offered[card]
    if not takes or (not deal.rules.must_capture and chance.random() < 0.3):
        return outcome(deal, card, ())
    return outcome(deal, card, chance.choice(takes))


def random_deal(rules: Rules, chance: random.Random) -> Iterator[Deal]:
    """Play a deal at random: as dealt, and after every batch and play.

    An opening table that sweeps is gone already; who may declare does, half the time.
    """
    deck = chance.sample(DECK, len(DECK))
    laid = chance.random() < 0.5 if rules.first_card_choice else None
    deal = begin(rules, chance.randrange(rules.players), deck, laid=laid)
    scope = 0 if is_void(rules, deal.table) else opening.scope(rules, deal.table)
    deal = opening.sweep(deal, scope) if scope else deal
    yield deal
    while not is_over(deal):
        due = needs_batch(deal)
        deal = random_declarations(deal, chance)
        deal = next_batch(deal) if due else play(deal, random_play(deal, chance))
        yield deal


def random_declarations(deal: Deal, chance: random.Random) -> Deal:
    """Let half of those who may declare do so."""
    for seat in range(deal.rules.players):
        may = declare.may_declare(deal, seat)
        if may and chance.random() < 0.5:
            deal = declare.declare(deal, declare.outcome(deal, seat, chance.choice(may)))
    return deal
