"""Typed commands other than plays: a table of words, and what each comes to."""

import secrets
from collections.abc import Callable
from typing import Final, Literal, cast

from msgspec import Struct

from scopa_protocol import commands as to_server
from scopa_protocol.rules import SCORING
from scopa_protocol.views import View

from .intents import Go, Intent, Send, Show, Sure, tell
from .screens.count import count, piles, sheet
from .screens.lobby import lobby
from .screens.people import by_holder
from .screens.proposal import proposal, scoring
from .screens.table import declaration, table
from .values import find_seat, pairs

Handler = Callable[[str, View], Intent]


class Order(Struct, frozen=True):
    """A word that can be typed. `seated`: only for those who sit; `host`: for one of them."""

    handler: Handler
    usage: str
    about: str
    short: str = ""
    seated: bool = True
    host: bool = False


def _ready(_: str, view: View) -> Intent:
    if view.phase != "deal_over":
        return tell("ready is for after a deal: it starts the next one.")
    return Send(to_server.Ready(deal=view.deal))


def _say(text: str, _: View) -> Intent:
    if not text:
        return tell("Type what you want to say: say hello, or 'hello.")
    return Send(to_server.Say(text=text, key=secrets.token_hex(8)))


def _bot(text: str, view: View) -> Intent:
    where, _, level = text.partition(" ")
    free = [
        seat.seat
        for seat in view.seats
        if seat.kind in ("empty", "vacant") and seat.reserved is None
    ]
    if not where and not free:
        return tell("No seat is free for a bot.")
    seat = find_seat(where, view).seat if where else free[0]
    return Send(to_server.SeatBot(seat=seat, level=level.strip() or None))


def _sit(text: str, view: View) -> Intent:
    return Send(to_server.Sit(seat=find_seat(text, view).seat))


def _arrange(text: str, view: View) -> Intent:
    names = [name.strip() for name in text.split(",")]
    if len(names) != len(view.seats):
        now = ",".join(seat.name or "-" for seat in view.seats)
        return tell(f"Name all {len(view.seats)} seats in order; they are now: arrange {now}")
    people = [None if name in ("", "-") else _name_at(name, view) for name in names]
    return Send(to_server.Arrange(names=people))


def _name_at(text: str, view: View) -> str:
    return find_seat(text, view).name or text


def _kick(text: str, view: View) -> Intent:
    seat = find_seat(text, view)
    if seat.name is None:
        return tell(f"Nobody sits on seat {seat.seat}.")
    return Send(to_server.Unseat(seat=seat.seat, name=seat.name))


def _stand_in(text: str, view: View) -> Intent:
    return Send(to_server.StandIn(seat=find_seat(text, view).seat))


def _host(text: str, view: View) -> Intent:
    seat = find_seat(text, view) if text not in ("", "me") else by_holder(view).seats[view.you or 0]
    if seat.name is None:
        return tell(f"Nobody sits on seat {seat.seat}.")
    if seat.kind == "bot":
        return tell(f"{seat.name} is a bot and can't be the host: name a person.")
    return Send(to_server.MakeHost(seat=seat.seat, name=seat.name))


def _start(_: str, view: View) -> Intent:
    if view.phase in ("playing", "deal_over"):
        return tell("The match is running. After a deal, ready goes on.")
    return Send(to_server.Start())


def _end(_text: str, view: View) -> Intent:
    if view.phase not in ("playing", "deal_over"):
        return tell("No match is running.")
    question = "That ends the match for everybody. Type end once more to do it."
    return Sure(question, Send(to_server.EndMatch()))


def _leave(_text: str, view: View) -> Intent:
    if view.you is None or view.phase not in ("playing", "deal_over"):
        return Go("leave")
    question = "That gives your seat up for good; quit keeps it. Type leave once more to do it."
    return Sure(question, Go("leave"))


def _rule(text: str, view: View) -> Intent:
    if not text:
        return Show(lobby(view))
    return Send(to_server.Configure(rules=dict(pairs(text.split()))))


def _set(text: str, view: View) -> Intent:
    if not text:
        return Show(lobby(view))
    return Send(to_server.Configure(settings=dict(pairs(text.split()))))


def _passcode(text: str, _: View) -> Intent:
    if not text:
        return tell("passcode WORD asks newcomers for it; passcode none removes it.")
    return Send(to_server.Configure(passcode="" if text == "none" else text))


def _propose(text: str, view: View) -> Intent:
    if not text:
        return Show(proposal(view) or scoring(view))
    wished = pairs(text.split())
    wrong = [field for field in wished if field not in SCORING]
    if wrong:
        return tell(f"{wrong[0]} shapes the play, or isn't a rule: propose lists what can change.")
    return Send(to_server.Propose(rules=dict(wished)))


def _pause(_: str, view: View) -> Intent:
    if view.paused_by is not None:
        return tell("The game is paused already: unpause goes on.")
    return Send(to_server.Pause())


def _unpause(_: str, view: View) -> Intent:
    if view.paused_by is None:
        return tell("The game isn't paused.")
    return Send(to_server.Unpause())


def _answer(agree: bool) -> Handler:
    def handler(_: str, view: View) -> Intent:
        if view.proposal is None:
            return tell("Nothing is proposed now.")
        return Send(to_server.Answer(proposal=view.proposal.id, agree=agree))

    return handler


def _first_card(keep: bool) -> Handler:
    def handler(_: str, view: View) -> Intent:
        if view.first_card is None:
            return tell("You aren't asked about a first card.")
        return Send(to_server.FirstCard(deal=view.deal, keep=keep))

    return handler


def _declare(text: str, view: View) -> Intent:
    offers = view.declarations
    if not offers:
        return tell("You have nothing to declare now.")
    number = 1 if not text and len(offers) == 1 else _number(text)
    if not 1 <= number <= len(offers):
        choices = [
            f"declare {index}: {declaration(index, view)}" for index, _ in enumerate(offers, 1)
        ]
        return tell(f"Type {'; '.join(choices)}.")
    chosen = offers[number - 1]
    kind = cast(Literal["low", "three", "both"], chosen.kind)
    command = to_server.Declare(deal=view.deal, batch=view.batch, kind=kind, matta=chosen.matta)
    return Send(command)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0


def _table(_: str, view: View) -> Intent:
    return Show(table(view) if view.phase in ("playing", "deal_over") else lobby(view))


ORDERS: Final[dict[str, Order]] = {
    "table": Order(_table, "table", "show the table again", "t", seated=False),
    "count": Order(
        lambda _, view: Show([*count(view), *piles(view)]),
        "count",
        "the last deal's count and piles",
        "c",
        seated=False,
    ),
    "score": Order(lambda _, view: Show(sheet(view)), "score", "the match's sheet", seated=False),
    "lobby": Order(
        lambda _, view: Show(lobby(view)), "lobby", "seats, rules, settings", seated=False
    ),
    "ready": Order(_ready, "ready", "on to the next deal (or just Enter)", "r"),
    "say": Order(_say, "say TEXT", "talk to the table (or 'TEXT)", seated=False),
    "declare": Order(_declare, "declare [N]", "declare your hand (Cirulla)"),
    "keep": Order(_first_card(True), "keep", "take the first card (Chkobba)"),
    "refuse": Order(_first_card(False), "refuse", "let the first card lie (Chkobba)"),
    "start": Order(_start, "start", "begin the match, or a rematch", host=True),
    "sit": Order(_sit, "sit SEAT", "move to an empty seat"),
    "bot": Order(_bot, "bot SEAT [LEVEL]", "put a bot on a seat", host=True),
    "arrange": Order(
        _arrange, "arrange A,B,C,D", "say who sits where, - for an empty seat", host=True
    ),
    "kick": Order(_kick, "kick SEAT", "remove a person or bot", host=True),
    "standin": Order(_stand_in, "standin SEAT", "let the server play for an idle seat", host=True),
    "host": Order(_host, "host SEAT", "make somebody else the host (host me: claim it)", host=True),
    "rule": Order(_rule, "rule KEY=VALUE", "change a rule, in the lobby", host=True),
    "set": Order(_set, "set KEY=VALUE", "change a setting", host=True),
    "passcode": Order(
        _passcode, "passcode WORD", "ask newcomers for it; none removes it", host=True
    ),
    "propose": Order(_propose, "propose KEY=VALUE", "count the match under other rules"),
    "agree": Order(_answer(True), "agree", "agree to what is proposed"),
    "decline": Order(_answer(False), "decline", "decline it"),
    "pause": Order(_pause, "pause", "stop the clocks"),
    "unpause": Order(_unpause, "unpause", "go on"),
    "end": Order(_end, "end", "abandon the match", host=True),
    "leave": Order(_leave, "leave", "give your seat up for good", seated=False),
    "quit": Order(
        lambda _text, _view: Go("quit"), "quit", "go; your seat is kept", "q", seated=False
    ),
}
