"""Values: records that nobody changes once they are made."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make a dataclass of values, frozen to whoever checks types.

    A deal makes some eighty of them; frozen at run time as well, each would take three times as
    long to make.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
