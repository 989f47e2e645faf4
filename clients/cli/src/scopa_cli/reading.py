"""From a typed line to what it comes to. Pure: nothing is sent or shown here."""

from typing import Final

from scopa_protocol.views import View

from .intents import Go, Intent, Show, tell
from .lines import Line, Span, fit, line
from .model import Known
from .orders import ORDERS, Order
from .plays import asked, is_play, play
from .screens.faces import faces

SHORT: Final = {order.short: word for word, order in ORDERS.items() if order.short}
IN_FULL: Final = frozenset({"leave", "end", "quit", "kick"})
HELP: Final = frozenset({"help", "h", "?"})
LONGEST: Final = 6000
"""Bytes of a line at most: a server closes the connection for a command of 16 KiB."""


def read(text: str, known: Known) -> Intent:
    """What a typed line means at this moment."""
    text = text.strip()
    view = known.view
    if text.partition(" ")[0].lower() in HELP:
        return Show(help_lines(known))
    if text in ("quit", "q"):
        return Go("quit")
    if len(text.encode(errors="replace")) > LONGEST:
        return tell("That line is too long: type it in parts.")
    if view is None:
        return tell("You aren't at the table yet: one moment. quit stops trying.")
    if text.startswith("'"):
        text = f"say {text[1:].strip()}"
    if not text:
        return _enter(known, view)
    if text == "invite":
        return tell(known.invite or "The server gave no invite.")
    words = text.replace(",", " ").split()
    if is_play(words[0]):
        return play(words, known, view)
    return _order(text, view)


def _enter(known: Known, view: View) -> Intent:
    if known.choice is not None:
        return asked(known.choice, view)
    if view.you is not None and view.phase == "deal_over" and not view.seats[view.you].ready:
        return ORDERS["ready"].handler("", view)
    return Show([])


def _order(text: str, view: View) -> Intent:
    typed, _, rest = text.partition(" ")
    word = _known_word(typed.lower())
    if word is None:
        return tell(_unknown(typed, view))
    order = ORDERS[word]
    if order.seated and view.you is None:
        return tell(f"You are watching: {word} is for those seated.")
    try:
        return order.handler(rest.strip(), view)
    except ValueError as wrong:
        return tell(f"{order.usage}: {wrong}.")


def _known_word(typed: str) -> str | None:
    if typed in ORDERS:
        return typed
    if typed in SHORT:
        return SHORT[typed]
    begun = [word for word in ORDERS if word.startswith(typed) and word not in IN_FULL]
    return begun[0] if len(begun) == 1 and len(typed) > 1 else None


def _unknown(typed: str, view: View) -> str:
    begun = [word for word in ORDERS if len(typed) > 1 and word.startswith(typed.lower())]
    if begun:
        return f"{typed} could be {' or '.join(begun)}: type it in full."
    play = "Type a card's number to play it, or help." if view.phase == "playing" else "Type help."
    return f"{typed} isn't known here. {play}"


def help_lines(known: Known) -> list[Line]:
    """Everything that can be typed."""
    plays = [
        ("3", "play the card of that number"),
        ("7D", "play that card"),
        ("7D 3C 4S", "play it and take those"),
        ("7D lay", "play it and take nothing"),
    ]
    view = known.view
    seated = not known.watching if view is None else view.you is not None
    rows = [_row(usage, about) for usage, about in plays] if seated else []
    rows += [_row("invite", "show what others need to join")]
    rows += _orders(seated=seated, host=False)
    rows += [line(Span("The host also has:", "bold")), *_orders(host=True)] if seated else []
    suits = [line("Cards: value and suit. ", faces(view).suits(), ".")] if view else []
    return [line(Span("What you can type:", "bold")), *rows, *suits]


def _orders(*, host: bool, seated: bool = True) -> list[Line]:
    return [
        _row(order.usage, _about(order))
        for order in ORDERS.values()
        if order.host == host and (seated or not order.seated)
    ]


def _row(usage: str, about: str) -> Line:
    return line("  ", Span(fit(usage, 19), "bold"), about)


def _about(order: Order) -> str:
    return f"{order.about} ({order.short})" if order.short else order.about
