"""The finished deals of a room in full, folded from its log as `apply` folds the room.

A deal is here once it is counted, or void: then everything in it is public (rulebook, What a seat
may know). One that is abandoned never is: its cards were not all shown. It stands here as it
counts, so after a rescoring with the rules that it was counted by last.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from msgspec.structs import replace

from scopa_protocol.history import HandDeclared, HistoryDeal, ShownCard, SweptOpening
from scopa_protocol.views import Count
from scopa_server.rules.count import count_deal
from scopa_server.rules.deal import Declared, Play, is_scopa
from scopa_server.rules.match import standings
from scopa_server.rules.record import Rules

from . import events as e
from .apply import apply
from .decide.counting import as_counted
from .decide.dealing import proof
from .project import wire_rules
from .state import Room
from .tell import void_deal

LATEST: Final = 50
"""Deals that are kept whole, unless some are asked for by number."""


@dataclass
class _Dealt:
    """The running deal, as far as the room doesn't remember it: how it began."""

    hands: list[list[list[str]]] = field(default_factory=list[list[list[str]]])
    table: list[str] = field(default_factory=list[str])
    first_card: ShownCard | None = None
    swept: SweptOpening | None = None


class Chronicle:
    """What is told of a log's finished deals. `only`: the numbers of those to keep whole."""

    def __init__(self, code: str, only: frozenset[int] | None = None) -> None:
        self.room = Room(code=code)
        self.deals: dict[int, HistoryDeal] = {}
        self._numbers: list[int] = []
        self._only = only
        self._dealt = _Dealt()
        self._plays: dict[int, tuple[Play, ...]] = {}

    def note(self, number: int, at: int, events: e.Events) -> None:
        """Take in commit `number`, stored at `at` (ms)."""
        for event in events:
            before, self.room = self.room, apply(self.room, event, at)
            step = _NOTES.get(type(event))
            if step is not None:
                step(self, event, before)
        self.room = replace(self.room, seq=number, at=at)

    def numbers(self, first: int, limit: int) -> tuple[list[int], int | None]:
        """The finished deals from `first` on, so many of them, and the one after those."""
        start = bisect_left(self._numbers, first)
        found = self._numbers[start : start + limit + 1]
        return found[:limit], found[limit] if len(found) > limit else None

    def _keep(self, deal: HistoryDeal) -> None:
        self._dealt = _Dealt()
        self._numbers.append(deal.deal)
        if self._only is not None and deal.deal not in self._only:
            return
        self.deals[deal.deal] = deal
        if self._only is None and len(self.deals) > LATEST:
            del self.deals[next(iter(self.deals))]

    def match_started(self, _: e.MatchStarted, before: Room) -> None:
        """The plays of a match are kept as long as it may be counted again."""
        self._plays, self._dealt = {}, _Dealt()

    def first_card_kept(self, event: e.FirstCardKept, before: Room) -> None:
        """The leader has the deck's first card."""
        self._first_card(event.seat, kept=True)

    def first_card_laid(self, event: e.FirstCardLaid, before: Room) -> None:
        """The table begins with the deck's first card."""
        self._first_card(event.seat, kept=False)

    def _first_card(self, seat: int, *, kept: bool) -> None:
        assert self.room.shuffle is not None, "a first card comes from a deck"
        card = self.room.shuffle.deck[0]
        self._dealt.first_card = ShownCard(seat=seat, card=card, kept=kept)

    def opening_swept(self, event: e.OpeningSwept, before: Room) -> None:
        """The opening table is the dealer's."""
        self._dealt.swept = SweptOpening(
            side=event.seat % before.rules.sides, cards=list(event.cards), scope=event.scope
        )

    def deal_voided(self, event: e.DealVoided, before: Room) -> None:
        """A void deal is public at once."""
        void = void_deal(event, before)
        self._keep(
            HistoryDeal(
                deal=void.deal,
                match=before.match,
                void=True,
                dealer=event.dealer,
                rules=wire_rules(before.rules),
                first_card=self._dealt.first_card,
                deals=[void.hands],
                table=void.table,
                declared=[],
                plays=[],
                proof=void.proof,
            )
        )

    def dealt(self, event: e.Dealt, before: Room) -> None:
        """A batch as it was handed out."""
        deal = self.room.deal
        assert deal is not None, "a batch is a deal's"
        if event.batch == 1:
            self._dealt.table = list(deal.table)
        self._dealt.hands.append([list(hand) for hand in deal.hands])

    def deal_counted(self, event: e.DealCounted, before: Room) -> None:
        """A deal is over, and public with its count."""
        room, deal = self.room, before.deal
        assert deal is not None and room.shuffle is not None, "a deal is counted"  # noqa: PT018
        self._plays[room.deal_number] = deal.plays
        self._keep(
            HistoryDeal(
                deal=room.deal_number,
                match=room.match,
                void=False,
                dealer=deal.dealer,
                rules=wire_rules(room.rules),
                first_card=self._dealt.first_card,
                deals=self._dealt.hands,
                table=self._dealt.table,
                opening_swept=self._dealt.swept,
                declared=list(map(_declared, deal.declared)),
                plays=_plays(room.rules, deal.plays),
                count=event.count,
                proof=proof(room.shuffle),
            )
        )

    def rescored(self, _: e.Rescored, before: Room) -> None:
        """The match's deals stand as they count now."""
        for count in self._counted_again():
            deal, rules = self.deals[count.deal], self.room.rules
            swept = deal.opening_swept
            self.deals[count.deal] = replace(
                deal,
                rules=wire_rules(rules),
                opening_swept=swept and replace(swept, side=deal.dealer % rules.sides),
                plays=_plays(rules, self._plays[count.deal]),
                count=count,
            )

    def _counted_again(self) -> list[Count]:
        rules, finished = self.room.rules, self.room.finished
        totals, _ = standings(rules, [deal.facts for deal in finished])
        return [
            as_counted(
                rules,
                deal.deal,
                deal.facts,
                count_deal(rules, deal.facts),
                after,
                self.deals[deal.deal].proof,
            )
            for deal, after in zip(finished, totals, strict=True)
            if deal.deal in self.deals
        ]


def _declared(hand: Declared) -> HandDeclared:
    return HandDeclared(
        batch=hand.batch,
        seat=hand.seat,
        kind=hand.kind,
        cards=list(hand.cards),
        matta=hand.matta,
        points=hand.points,
    )


def _plays(rules: Rules, plays: Sequence[Play]) -> list[tuple[int, str, list[str], bool]]:
    """Plays as a history tells them; whether a sweep counts goes by these rules."""
    return [
        (
            play.seat,
            play.card,
            list(play.take),
            play.sweep is not None and is_scopa(rules, play.sweep),
        )
        for play in plays
    ]


_Note: TypeAlias = Callable[[Chronicle, Any, Room], None]

_NOTES: Final[Mapping[type[e.Event], _Note]] = cast(
    Mapping[type[e.Event], _Note],
    {
        e.MatchStarted: Chronicle.match_started,
        e.FirstCardKept: Chronicle.first_card_kept,
        e.FirstCardLaid: Chronicle.first_card_laid,
        e.OpeningSwept: Chronicle.opening_swept,
        e.DealVoided: Chronicle.deal_voided,
        e.Dealt: Chronicle.dealt,
        e.DealCounted: Chronicle.deal_counted,
        e.Rescored: Chronicle.rescored,
    },
)
