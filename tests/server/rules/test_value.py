"""Values: alike if their fields are."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from scopa_server.rules.cards import DECK
from scopa_server.rules.deal import Deal, begin, outcome, play
from scopa_server.rules.record import Rules, build
from scopa_server.rules.value import changed

SCOPA = build("scopa", {})


def test_equal_fields_make_equal_values_with_equal_hashes() -> None:
    one, other = begin(SCOPA, 0, DECK), begin(SCOPA, 0, DECK)
    assert one == other
    assert hash(one) == hash(other)
    assert one != replace(other, dealer=1)


def test_a_play_makes_another_deal_with_every_field_in_its_place() -> None:
    before = begin(SCOPA, 0, DECK)
    copy = replace(before)
    after = play(before, outcome(before, "1D", ()))
    assert before == copy
    differing = {
        field.name
        for field in fields(Deal)
        if getattr(after, field.name) != getattr(before, field.name)
    }
    assert differing == {"turn", "to_play", "hands", "table", "plays"}


def test_a_changed_copy_leaves_the_first_as_it_was() -> None:
    one, same = begin(SCOPA, 0, DECK), begin(SCOPA, 0, DECK)
    assert changed(one, dealer=1, laid=True) == replace(one, dealer=1, laid=True)
    assert one == same


def test_values_take_no_other_fields() -> None:
    with pytest.raises(AttributeError):
        changed(begin(SCOPA, 0, DECK), winner=1)
    with pytest.raises(AttributeError):
        object.__setattr__(begin(SCOPA, 0, DECK), "winner", 1)


def test_rules_are_frozen_at_run_time_too() -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(SCOPA, "target", 21)  # noqa: B010
    assert Rules() == SCOPA
