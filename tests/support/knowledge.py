"""What each viewer may know, worked out from the log alone and from the rulebook's words.

Nothing here calls `project`, `tell` or the rules: cards are dealt, played and counted anew.
"""

from dataclasses import dataclass, field

from scopa_server.room import events as e
from scopa_server.room.state import Shuffle
from scopa_server.rules.deal import Declared


@dataclass
class Known:
    """The public course of a room, and each hand."""

    players: int
    sides: int
    hand: int
    next_shuffle: Shuffle | None = None
    shuffle: Shuffle | None = None
    hands: list[list[str]] = field(default_factory=list[list[str]])
    table: list[str] = field(default_factory=list[str])
    stock: list[str] = field(default_factory=list[str])
    plays: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    swept: list[str] = field(default_factory=list[str])
    piles: list[list[str]] = field(default_factory=list[list[str]])
    laid: bool | None = None
    """Whether the deal's first card was refused, where it was offered."""
    asked: int | None = None
    open: set[int] = field(default_factory=set[int])
    """Seats whose hand lies open."""
    named: tuple[int, int] | None = None
    """What 7C stands for, and who said so."""
    waiting: set[int] = field(default_factory=set[int])
    counted: Shuffle | None = None
    """The deck of the latest counted deal, and what each side took in it."""
    counted_piles: list[list[str]] = field(default_factory=list[list[str]])

    def note(self, event: e.LogEvent) -> None:
        """One event later."""
        match event:
            case e.Shuffled():
                self.next_shuffle = event.shuffle
            case e.Dealt():
                self._dealt(event)
            case e.FirstCardOffered():
                self._begin()
                self.asked = (event.dealer + 1) % self.players
            case e.FirstCardKept():
                self.asked, self.laid = None, False
            case e.FirstCardLaid():
                assert self.shuffle is not None
                assert event.card == self.shuffle.deck[0]
                self.asked, self.laid = None, True
            case e.OpeningSwept():
                assert list(event.cards) == self.table
                self.piles[event.seat % self.sides] += self.table
                self.table = []
            case e.Declared():
                self._declared(event.declared)
            case e.Played():
                self._played(event)
            case e.Leftovers():
                self.piles[event.seat % self.sides] += event.cards
                self.table = []
                self.named = None if "7C" in event.cards else self.named
            case e.DealCounted():
                self.counted, self.counted_piles = self.shuffle, self.piles
            case e.MatchWon():
                self.waiting, self.next_shuffle = set(), None
            case e.MatchEnded():
                self._clear()
            case e.SeatTaken(reserved=True):
                self.waiting.add(event.seat)
            case e.SeatLeft(reserved=True):
                self.waiting.discard(event.seat)
            case _:
                pass

    def _clear(self) -> None:
        self.waiting, self.counted, self.shuffle, self.next_shuffle = set(), None, None, None
        self.hands, self.table, self.stock = [], [], []
        self.plays, self.swept, self.piles = [], [], []
        self.laid, self.asked, self.open, self.named = None, None, set(), None

    def _begin(self) -> None:
        """A deck comes into use, nothing of it dealt."""
        assert self.next_shuffle is not None
        self.shuffle, self.next_shuffle = self.next_shuffle, None
        self.waiting, self.laid, self.named, self.open = set(), None, None, set()
        self.plays, self.swept, self.piles = [], [], [[] for _ in range(self.sides)]
        self.hands, self.table = [[] for _ in range(self.players)], []
        self.stock = list(self.shuffle.deck)

    def _dealt(self, event: e.Dealt) -> None:
        self.open = set()
        if event.batch > 1:
            self.hands, _, self.stock = self.handed_out(self.stock, event.dealer, table=False)
            return
        if self.laid is None:
            self._begin()
        self.hands, self.table, self.stock = self.handed_out(self.stock, event.dealer)

    def _declared(self, declared: Declared) -> None:
        assert list(declared.cards) == self.hands[declared.seat]
        self.open.add(declared.seat)
        if declared.matta is not None:
            self.named = (declared.matta, declared.seat)

    def voided(self, dealer: int) -> tuple[Shuffle, list[list[str]], list[str]]:
        """The deck, the hands and the table of a void deal."""
        shuffle = self.next_shuffle or self.shuffle
        assert shuffle is not None
        hands, table, _ = self.handed_out(shuffle.deck, dealer)
        return shuffle, hands, table

    def handed_out(
        self, deck: list[str] | tuple[str, ...], dealer: int, *, table: bool = True
    ) -> tuple[list[list[str]], list[str], list[str]]:
        """Hands, table and stock, dealt card by card."""
        cards = list(deck)
        refused = [cards.pop(0)] if table and self.laid else []
        hands: list[list[str]] = [[] for _ in range(self.players)]
        for _ in range(self.hand):
            for step in range(1, self.players + 1):
                hands[(dealer + step) % self.players].append(cards.pop(0))
        opening = 40 % (self.hand * self.players) if table else 0
        opening -= len(refused)
        return hands, refused + cards[:opening], cards[opening:]

    def _played(self, event: e.Played) -> None:
        play = event.play
        self.hands[play.seat].remove(play.card)
        self.plays.append((play.card, *play.take))
        self.table = [card for card in self.table if card not in play.take]
        if play.take:
            self.piles[play.seat % self.sides] += (play.card, *play.take)
            if "7C" in (play.card, *play.take):
                self.named = None
        else:
            self.table.append(play.card)
        if play.scopa:
            self.swept.append(play.card)

    def gone(self) -> set[str]:
        """The cards that have left play."""
        return {card for pile in self.piles for card in pile}

    def own(self, viewer: int | None) -> list[str]:
        """The viewer's hand."""
        if viewer is None or viewer in self.waiting or not self.hands:
            return []
        return self.hands[viewer]

    def first_card(self, viewer: int | None) -> str | None:
        """The first card, to who must keep or refuse it."""
        asked = self.asked is not None and viewer == self.asked and viewer not in self.waiting
        return self.stock[0] if asked else None

    def revealed(self) -> list[list[str] | None]:
        """Every hand that lies open."""
        hands = enumerate(self.hands or [[] for _ in range(self.players)])
        return [hand if hand and seat in self.open else None for seat, hand in hands]

    def recent(self) -> list[tuple[str, ...]]:
        """The latest plays, at most as many as players."""
        return self.plays[-self.players :]

    def may_know(self, viewer: int | None, *, memory: bool) -> set[str]:
        """Every card that this viewer's view may show, the last count apart."""
        known = {*self.own(viewer), *self.table, *self.swept}
        known.update(card for play in self.recent() for card in play)
        known.update(card for hand in self.revealed() for card in hand or [])
        known.update([card] if (card := self.first_card(viewer)) else [])
        return known | self.gone() if memory else known

    def secrets(self) -> list[str]:
        """Salts that nobody may know yet."""
        salts = [shuffle.salt for shuffle in (self.next_shuffle, self.shuffle) if shuffle]
        return [salt for salt in salts if self.counted is None or salt != self.counted.salt]
