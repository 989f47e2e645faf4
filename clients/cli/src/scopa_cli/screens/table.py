"""The table in lines: sides, cards, last plays, and the hand with its numbered cards."""

from typing import Final

from scopa_cli.lines import Line, Span, fit, joined, line, width
from scopa_protocol.cards import display_order
from scopa_protocol.views import RecentPlay, SideView, View

from .faces import Faces, faces
from .people import by_holder, my_cards, my_side, seat_name, side_name, who, whom

NAME_COLUMNS: Final = 20
LISTED_TAKES: Final = 3


def table(view: View) -> list[Line]:
    """Everything that lies open, and one's own hand."""
    shown = [_head(view), *_sides(view), *_open_hands(view), _cards(view)]
    shown += [line(f"  {_label('Last')}", _play(view, play)) for play in view.recent[-1:]]
    if view.gone:
        shown.append(line(f"  {_label('Gone')}", faces(view).set(view.gone)))
    return [*shown, *hand(view), *turn(view)]


def _label(text: str) -> str:
    return fit(text, 7)


def _head(view: View) -> Line:
    parts = [f"Deal {view.deal}"]
    if view.dealer is not None:
        parts.append(f"dealt by {whom(view, view.dealer)}")
    parts.append(f"{view.stock} cards in the stock" if view.stock else "the stock is empty")
    return line(Span("── " + " · ".join(parts) + " ──", "bold"))


def _sides(view: View) -> list[Line]:
    names = [side_name(view, side.side) for side in view.sides]
    columns = min(max(map(width, names), default=0), NAME_COLUMNS)
    return [
        _side(view, side, fit(name, columns)) for side, name in zip(view.sides, names, strict=True)
    ]


def _side(view: View, side: SideView, name: str) -> Line:
    mine = side.side == my_side(view)
    scope = f"scope {side.scope}"
    cards = faces(view).row(side.scope_cards, " ")
    return line(
        "  ",
        Span(name, "mine" if mine else ""),
        f"  score {side.score:>2} · captured {side.captured:>2} · {scope}",
        line(" (", cards, ")") if side.scope_cards else "",
    )


def _open_hands(view: View) -> list[Line]:
    return [
        line("  Open hand of ", who(view, seat.seat), ": ", faces(view).set(seat.revealed))
        for seat in view.seats
        if seat.revealed and seat.seat != my_cards(view)
    ]


def _cards(view: View) -> Line:
    cards = faces(view).row(view.table) if view.table else line("empty")
    return line(f"  {_label('Table')}", cards)


def _play(view: View, play: RecentPlay) -> Line:
    return line(who(view, play.seat), " played ", played(faces(view), play))


def played(shown: Faces, play: RecentPlay) -> Line:
    """A play without its player: `7D, took 3C 4S: scopa!`."""
    card = line(shown.short(play.card))
    if play.take:
        card = line(card, ", took ", shown.set(play.take))
    elif play.to_pile:
        card = line(card, ", took itself")
    return line(card, Span(": scopa!", "bold") if play.scopa else "")


def hand(view: View) -> list[Line]:
    """The hand: numbered and explained on one's turn, a row otherwise."""
    if not view.hand:
        return []
    shown, cards = faces(view), display_order(view.hand)
    if view.to_play != my_cards(view) or view.phase != "playing":
        return [line(f"  {_label('Hand')}", shown.row(cards))]
    columns = max(width(shown.short(card).text) for card in cards)
    return [_hand_card(view, shown, number, card, columns) for number, card in enumerate(cards, 1)]


def _hand_card(view: View, shown: Faces, number: int, card: str, columns: int) -> Line:
    face = shown.short(card)
    label = _label("Hand" if number == 1 else "")
    name = shown.name(card)
    return line(
        f"  {label}{number:>2}  ",
        face,
        " " * (columns - width(face.text)),
        f"  {fit(name, 18)}  " if view.options is not None else f"  {name}",
        _effect(view, shown, card),
    )


def _effect(view: View, shown: Faces, card: str) -> Line:
    if view.options is None:
        return line()
    takes = view.options.get(card) or []
    if not takes:
        return line("no capture")
    if len(takes) > LISTED_TAKES:
        return line(f"takes one of {len(takes)} sets")
    return line("takes ", joined(map(shown.set, takes), " or "))


def turn(view: View) -> list[Line]:
    """Whose turn it is, and what holds the table up."""
    shown: list[Line] = []
    if view.paused_by is not None:
        by = whom(by_holder(view), view.paused_by)
        shown.append(line("  Paused by ", by, ". unpause: go on."))
    if view.first_card is not None:
        shown.append(line("  Your first card would be ", faces(view).short(view.first_card), "."))
    shown += _declarations(view)
    if view.phase != "playing" or view.to_play is None:
        return shown
    if view.to_play == my_cards(view):
        return [*shown, line("  ", Span("Your turn.", "mine"), _seconds(view))]
    return [*shown, line("  ", Span(seat_name(view, view.to_play), "bold"), " is to play.")]


def _seconds(view: View) -> str:
    if view.clock is None or view.clock.kind != "turn":
        return ""
    return f" {max(view.clock.left_ms // 1000, 0)} seconds left."


def _declarations(view: View) -> list[Line]:
    return [
        line(f"  You may declare {declaration(number, view)}. Type: declare {number}")
        for number, _ in enumerate(view.declarations, 1)
    ]


def declaration(number: int, view: View) -> str:
    """The declaration of that number, in words."""
    chosen = view.declarations[number - 1]
    matta = f", 7C as {chosen.matta}" if chosen.matta is not None else ""
    return f"{chosen.kind}{matta} ({chosen.points} points)"


def captures(view: View, card: str, takes: list[list[str]]) -> list[Line]:
    """The numbered captures of a card; an empty one is laying it."""
    shown = faces(view)
    heads = [line(shown.short(card), " can do one of these:")]
    rows = [
        line(f"  {number:>2}  ", line("take ", shown.set(take)) if take else "lay it on the table")
        for number, take in enumerate(takes, 1)
    ]
    more = "There are more: type the card and what it takes, like 7D 3C 4S."
    return [*heads, *rows, *([line(more)] if view.options_cut else [])]
