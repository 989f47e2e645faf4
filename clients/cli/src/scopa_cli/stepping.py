"""Stepping through recorded deals: where one stands, and what is typed to move. Pure."""

import re
from typing import Final

from msgspec import Struct

NUMBER: Final = re.compile(r"[0-9]{1,6}", re.ASCII)
HELP: Final = (
    "Enter goes on, b goes back, a number goes to that turn, n and p to the next and previous "
    "deal, q quits."
)


class Place(Struct, frozen=True):
    """A deal, by its place in the file, and the turn that was played last."""

    deal: int = 0
    turn: int = 0


def move(text: str, place: Place, turns: list[int]) -> Place | str | None:
    """Where a typed line leads, or why nowhere; None to quit. `turns`: how many each deal has."""
    word = text.strip().lower()
    if word in ("q", "quit"):
        return None
    if word in ("", "b", "back"):
        return _back(place, turns) if word else _on(place, turns)
    if word in ("n", "p"):
        return _deal(place.deal + (1 if word == "n" else -1), turns)
    if NUMBER.fullmatch(word):
        turn = int(word)
        last = turns[place.deal]
        return Place(place.deal, turn) if turn <= last else f"Its last turn is {last}."
    return HELP


def _on(place: Place, turns: list[int]) -> Place | str:
    if place.turn < turns[place.deal]:
        return Place(place.deal, place.turn + 1)
    if place.deal + 1 < len(turns):
        return Place(place.deal + 1)
    return "That was the last turn. q quits, b goes back."


def _back(place: Place, turns: list[int]) -> Place | str:
    if place.turn:
        return Place(place.deal, place.turn - 1)
    if place.deal:
        return Place(place.deal - 1, turns[place.deal - 1])
    return "That is the beginning."


def _deal(deal: int, turns: list[int]) -> Place | str:
    return Place(deal) if 0 <= deal < len(turns) else "There is no such deal in the file."
