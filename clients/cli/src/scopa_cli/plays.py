"""Typed plays: a card by number or name, and what it takes. The server alone knows the rules."""

import re
from typing import Final

from scopa_protocol.cards import display_order
from scopa_protocol.commands import Play
from scopa_protocol.views import View

from .intents import Choose, Intent, Send, Show, tell
from .lines import line
from .model import Choice, Known
from .screens.faces import faces
from .screens.people import my_cards, seat_name
from .screens.prompt import prompt, rematch
from .screens.table import captures

CARD: Final = re.compile(r"(10|[1-9])[DCSB]", re.IGNORECASE)
NUMBER: Final = re.compile(r"[0-9]{1,3}")
LAY: Final = frozenset({"lay", "-"})


def is_play(word: str) -> bool:
    """Whether a line that begins with this word is a play."""
    return NUMBER.fullmatch(word) is not None or CARD.fullmatch(word) is not None


def play(words: list[str], known: Known, view: View) -> Intent:
    """A play, or why it can't be one."""
    if known.choice is not None and len(words) == 1 and NUMBER.fullmatch(words[0]):
        return _choose(int(words[0]), known.choice)
    hindrance = _hindrance(known, view)
    if hindrance:
        return tell(hindrance)
    card = _held(words[0], view)
    if card is None:
        return tell(_not_held(words[0], view))
    if len(words) == 1:
        return _alone(card, view)
    return _with_takes(card, words[1:], view)


def choosable(takes: list[list[str]], view: View) -> list[list[str]]:
    """What a card may do: its captures, and laying it where that is allowed."""
    return takes if view.rules.must_capture or not takes else [*takes, []]


def _hindrance(known: Known, view: View) -> str:
    if view.you is None:
        return "You are watching: only those seated play."
    if view.phase != "playing":
        then = rematch(view) if view.phase == "match_over" else prompt(view)[1]
        return f"No cards are being played now. {then}".rstrip()
    if my_cards(view) is None:
        return "Your cards come with the next deal."
    if view.first_card is not None:
        return "First say whether you take the first card: keep or refuse."
    if view.to_play is None:
        return "The first card is being decided: one moment."
    # A seat that the server plays is its person's again with any card, even one that is refused.
    if view.to_play != view.you and not view.seats[view.you].stand_in:
        return f"It is {seat_name(view, view.to_play)}'s turn. You play when your name comes up."
    if known.played == (view.deal, view.turn):
        return "Your play is on its way: wait for the server's answer."
    return ""


def _held(word: str, view: View) -> str | None:
    cards = display_order(view.hand or [])
    if NUMBER.fullmatch(word):
        number = int(word)
        return cards[number - 1] if 1 <= number <= len(cards) else None
    card = word.upper()
    return card if card in cards else None


def _not_held(word: str, view: View) -> str:
    cards = display_order(view.hand or [])
    if NUMBER.fullmatch(word):
        return f"There is no card {word}: type a number from 1 to {len(cards)}."
    return f"You don't hold {word.upper()}. Your cards: {', '.join(cards)}."


def _alone(card: str, view: View) -> Intent:
    if view.options is None:
        return _send(card, [], view)
    takes = view.options.get(card) or []
    chosen = choosable(takes, view)
    if len(chosen) > 1 or (takes and view.options_cut):
        return Choose(Choice(deal=view.deal, turn=view.turn, card=card, takes=chosen))
    return _send(card, takes[0] if takes else [], view)


def _with_takes(card: str, words: list[str], view: View) -> Intent:
    if len(words) == 1 and words[0].lower() in LAY:
        return _send(card, [], view)
    wrong = [word for word in words if not CARD.fullmatch(word)]
    if wrong:
        return tell(f"{wrong[0]} is no card: type what {card} takes like {card} 3C 4S.")
    take = [word.upper() for word in words]
    missing = [taken for taken in take if taken not in view.table]
    if missing:
        on_table = ", ".join(view.table) or "nothing"
        return tell(f"{missing[0]} isn't on the table. There: {on_table}.")
    if len(set(take)) != len(take):
        return tell("You named a card twice: name each card that you take once.")
    return _send(card, take, view)


def _choose(number: int, choice: Choice) -> Intent:
    if not 1 <= number <= len(choice.takes):
        return tell(f"Type a number from 1 to {len(choice.takes)}, or another card.")
    take = choice.takes[number - 1]
    return Send(Play(deal=choice.deal, turn=choice.turn, card=choice.card, take=take))


def _send(card: str, take: list[str], view: View) -> Send:
    return Send(Play(deal=view.deal, turn=view.turn, card=card, take=take))


def asked(choice: Choice, view: View) -> Show:
    """The numbered choice of a card's captures."""
    name = faces(view).name(choice.card)
    rows = captures(view, choice.card, choice.takes)
    return Show([*rows, line(f"Type a number from 1 to {len(choice.takes)} for the {name}.")])
