"""Values: records that nobody changes once they are made."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")

_CONTENTS: Final[dict[type[Any], Callable[[Any], tuple[Any, ...]]]] = {}
"""What gives the fields of a value, by its class."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make a dataclass of values, frozen to whoever checks types.

    A deal makes some eighty of them; frozen at run time as well, each would take three times as
    long to make.
    """
    made = dataclass(slots=True, unsafe_hash=True)(cls)
    _CONTENTS[made] = attrgetter(*[one.name for one in fields(made)])  # type: ignore[arg-type]
    return made


def changed(old: T, **changes: Any) -> T:
    """Copy a value of several fields, some of them changed.

    `dataclasses.replace` would take three times as long.
    """
    new = type(old)(*_CONTENTS[type(old)](old))
    for name, now in changes.items():
        setattr(new, name, now)
    return new
