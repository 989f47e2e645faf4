"""Rules and settings as a host asks for them, checked field by field."""

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from scopa_protocol.settings import Settings
from scopa_server.rules.record import Rules, RulesRefused, build

from . import said


def checked(asked: Mapping[str, Any]) -> tuple[str, dict[str, Any], Rules]:
    """Variant, overrides and rules. Raises Refused: bad_rules, with the field and the reason."""
    overrides = dict(asked)
    variant = overrides.pop("variant", "scopa")
    try:
        rules = build(variant, overrides)
    except RulesRefused as refusal:
        raise said.bad_rules(refusal.field, refusal.reason) from None
    return variant, overrides, rules


def merged(present: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Given fields replace, others stay; another variant starts from its preset."""
    if given.get("variant", present["variant"]) != present["variant"]:
        return dict(given)
    return {**present, **given}


def settled(present: Settings, given: Mapping[str, Any]) -> Settings:
    """The settings with the given ones replaced. Raises Refused: bad_settings."""
    for field in given:
        if field not in Settings.__struct_fields__:
            raise said.bad_settings(field, "there is no such setting")
    whole: dict[str, Any] = msgspec.to_builtins(present)
    for field, value in given.items():
        try:
            msgspec.convert({field: value}, Settings)
        except (msgspec.ValidationError, RecursionError) as fault:
            raise said.bad_settings(field, _words(field, fault)) from None
    return msgspec.convert({**whole, **given}, Settings)


_KINDS: Final[Mapping[str, Any]] = get_type_hints(Settings)


def _words(field: str, fault: Exception) -> str:
    """What is wrong, without repeating what was sent."""
    if get_origin(_KINDS[field]) is Literal:
        return "must be one of " + ", ".join(get_args(_KINDS[field]))
    return str(fault).partition(" - at ")[0] or "wrong value"
