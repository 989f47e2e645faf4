"""A room without a server: commands in, events and views out, chance from a seed."""

import random
from collections.abc import Iterator
from itertools import chain, count

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.events import RoomEvent
from scopa_protocol.views import View
from scopa_server.room.apply import advance, apply
from scopa_server.room.context import Actor, Context
from scopa_server.room.decide import decide, open_room
from scopa_server.room.decide.internal import CameBack, GoneAway, Internal
from scopa_server.room.events import Events, LogEvent, read_events, write_events
from scopa_server.room.history import Chronicle
from scopa_server.room.project import Scene, project
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room, Shuffle
from scopa_server.room.tell import tell
from scopa_server.rules import captures
from scopa_server.rules.cards import DECK
from scopa_server.rules.declare import may_declare

NAMES = ("Anna", "Bruno", "Carla", "Dario", "Elena", "Fabio")


def shuffles(seed: int) -> Iterator[Shuffle]:
    """Decks and salts without end, the same for the same seed."""
    chance = random.Random(seed)
    while True:
        deck = list(DECK)
        chance.shuffle(deck)
        yield Shuffle(deck=tuple(deck), salt=chance.randbytes(32).hex())


def token(seat: int) -> str:
    """The token of the person that `Table` puts on a seat."""
    return f"token-of-seat-{seat}-0123456789"


def heard(room: Room, events: Events, at: int) -> list[tuple[LogEvent, RoomEvent | None]]:
    """A commit's events, each with what people hear of it."""
    told: list[tuple[LogEvent, RoomEvent | None]] = []
    for event in events:
        after = apply(room, event, at)
        told.append((event, tell(event, room, after)))
        room = after
    return told


class Table:
    """A room with people on it. Time passes a second a commit."""

    opened_with: str | None = None
    """The hash of the passcode that its room is opened with."""

    def __init__(self, seed: int = 0, **rules: object) -> None:
        asked = {"variant": "scopone_scientifico", **rules}
        self.shuffles = shuffles(seed)
        self.passcode = self.opened_with
        self.used_ms: int | None = None
        self.room = Room(code="TESTROOM")
        self.log: list[tuple[int, bytes]] = []
        self.numbers = count(1)
        self.online: frozenset[int] = frozenset()
        self.offline_ms: dict[int, int] = {}
        self.watchers: tuple[str, ...] = ()
        self.append(open_room(c.Create(name=NAMES[0], rules=asked), token(0), self.opened_with))
        self.online = frozenset({0})

    @property
    def context(self) -> Context:
        """The world as it is now."""
        return Context(
            shuffles=self.shuffles,
            online=self.online,
            offline_ms=self.offline_ms,
            watchers=self.watchers,
            passcode=self.passcode,
            used_ms=self.used_ms,
        )

    def phase(self) -> str:
        """The room's phase; a call, so that types aren't narrowed by what it was."""
        return self.room.phase

    def host(self) -> int | None:
        """The room's host."""
        return self.room.host

    def append(self, events: Events) -> Events:
        """Store a commit and advance; nothing for no events. Gives what was stored back."""
        if events:
            number = next(self.numbers)
            payload = write_events(events)
            self.log.append((number * 1000, payload))
            self.room = advance(self.room, number, number * 1000, read_events(payload))
        return events

    def do(self, seat: int | None, command: c.Command | Internal, *, auto: bool = False) -> Events:
        """Let a seat (None: a watcher called Ugo) do something. Raises Refused."""
        actor = Actor(seat, name="Ugo", auto=auto)
        return self.append(decide(self.room, actor, command, self.context))

    def refused(self, seat: int | None, command: c.Command, *, auto: bool = False) -> Refused:
        """Let a seat do something that must be refused, and see why."""
        before = self.room
        try:
            events = self.do(seat, command, auto=auto)
        except Refused as refusal:
            assert self.room is before
            return refusal
        raise AssertionError(f"{command!r} of {seat} was not refused: {events!r}")

    def code(self, seat: int | None, command: c.Command, *, auto: bool = False) -> ErrorCode | None:
        """The code a command is refused with; None: it is accepted."""
        try:
            self.do(seat, command, auto=auto)
        except Refused as refusal:
            return refusal.code
        return None

    def set(self, **settings: object) -> "Table":
        """Let the host change settings."""
        self.do(self.room.host, c.Configure(settings=settings))
        return self

    def gone(self, seat: int) -> Events:
        """Let the server notice that the person of a seat has been gone for a while."""
        holder = self.room.seats[seat].holder
        assert holder is not None
        return self.do(None, GoneAway(holder.token))

    def back(self, seat: int) -> Events:
        """Let the server notice that the person of a seat is there again."""
        holder = self.room.seats[seat].holder
        assert holder is not None
        return self.do(None, CameBack(holder.token))

    def join(self, seat: int, name: str | None = None) -> Events:
        """Let a person sit down and be online."""
        command = c.Join(room="TESTROOM", name=name or NAMES[seat], seat=seat, token=token(seat))
        events = self.do(None, command)
        self.online |= {seat}
        return events

    def fill(self) -> "Table":
        """People on every empty seat."""
        for seat, there in enumerate(self.room.seats):
            if there.kind == "empty":
                self.join(seat)
        return self

    def start(self) -> "Table":
        """Fill the seats and begin the match."""
        self.fill()
        self.do(0, c.Start())
        return self

    def past(self, only: frozenset[int] | None = None) -> Chronicle:
        """What the log tells of its finished deals."""
        past = Chronicle("TESTROOM", only)
        for number, (at, payload) in enumerate(self.log, start=1):
            past.note(number, at, read_events(payload))
        return past

    def view(self, seat: int | None) -> View:
        """What a seat or a watcher sees."""
        return project(self.room, seat, self.scene)

    @property
    def scene(self) -> Scene:
        """What a view shows beside the room."""
        return Scene(log="log", online=self.online, watchers=self.watchers)

    def legal(self, chance: random.Random) -> c.Play:
        """Any legal card of the seat to play."""
        deal = self.room.deal
        assert deal is not None
        assert deal.to_play is not None
        hand = deal.hands[deal.to_play]
        listed = captures.listing(self.room.rules, hand, deal.table, matta=deal.named)
        card = chance.choice(sorted(listed))
        take = chance.choice(listed[card] or [()])
        return c.Play(deal=self.room.deal_number, turn=deal.turn, card=card, take=list(take))

    def play(self, chance: random.Random, *, auto: bool = False) -> Events:
        """Let the seat to play play any legal card, or do as it likes with a first one.

        Before that anybody who may declare does, half the time.
        """
        if self.room.asked is not None:
            choice = c.FirstCard(deal=self.room.deal_number, keep=chance.random() < 0.5)
            return self.do(self.room.asked, choice, auto=auto)
        declared = self.declare(chance)
        return declared + self.do(self.room.to_play, self.legal(chance), auto=auto)

    def declare(self, chance: random.Random) -> Events:
        """Let half of those who may declare do so."""
        deal = self.room.deal
        events: Events = ()
        for seat, there in enumerate(self.room.seats):
            may = may_declare(deal, seat) if deal else ()
            if may and chance.random() < 0.5:
                chosen = chance.choice(may)
                command = c.Declare(
                    deal=self.room.deal_number,
                    batch=deal.batch if deal else 0,
                    kind=chosen.kind,
                    matta=chosen.matta,
                )
                events += self.do(seat, command, auto=there.served)
        return events

    def deal_out(self, chance: random.Random) -> "Table":
        """Play until the deal is over."""
        while self.room.phase == "playing":
            self.play(chance)
        return self

    def step(self, chance: random.Random) -> Events:
        """One step of a match that people play quickly: a card, or all of them ready."""
        if self.room.phase == "playing":
            return self.play(chance)
        return self.all_ready()

    def all_ready(self) -> Events:
        """Let everybody who is here see the count."""
        deal = self.room.deal_number
        events: Events = ()
        for seat in sorted(self.online):
            events += self.do(seat, c.Ready(deal=deal))
        return events


def nina(seat: int | None = None, name: str = "Nina") -> c.Join:
    """A newcomer."""
    return c.Join(room="TESTROOM", name=name, seat=seat, token="n" * 22)


def four(**rules: object) -> Table:
    """A table for four, each alone."""
    return Table(seed=4, variant="scopa", players=4, sides=4, **rules)


def duel(target: int = 11, **rules: object) -> Table:
    """A table for two."""
    return Table(seed=8, variant="scopa", target=target, **rules)


def stacked(top: str, seed: int = 9) -> Shuffle:
    """A deck that begins with these cards."""
    first = top.split()
    rest = [card for card in DECK if card not in first]
    random.Random(seed).shuffle(rest)
    return Shuffle(deck=(*first, *rest), salt=f"{seed:064x}")


def stack(table: Table, *decks: Shuffle) -> None:
    """Have the dealer drawn as seat 1 of two, then these decks come."""
    draw = stacked("10D 1D")
    table.shuffles = chain([draw, *decks], shuffles(99))
