"""Everything that can be played is explained, and nothing else."""

from typing import Literal, get_args, get_origin, get_type_hints

from scopa_protocol.explained import RULES, VARIANTS
from scopa_protocol.rules import Rules
from scopa_server.rules.presets import PRESETS


def test_every_variant_is_explained() -> None:
    assert {variant.name for variant in VARIANTS} == set(PRESETS)


def test_every_rule_is_explained_with_its_values() -> None:
    kinds = get_type_hints(Rules)
    assert {rule.field for rule in RULES} == set(kinds)
    for rule in RULES:
        named = get_args(kinds[rule.field]) if get_origin(kinds[rule.field]) is Literal else ()
        assert tuple(rule.values) == named, rule.field


def test_an_explanation_is_a_sentence_or_two() -> None:
    for text in [*(v.text for v in VARIANTS), *(r.text for r in RULES)]:
        assert text[0].isupper()
        assert text.endswith(".")
        assert len(text) <= 170
