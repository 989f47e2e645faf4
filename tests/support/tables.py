"""A room without a server: commands in, events and views out, chance from a seed."""

import random
from collections.abc import Iterator
from itertools import count

from scopa_protocol import commands as c
from scopa_protocol.views import View
from scopa_server.room.apply import advance
from scopa_server.room.context import Actor, Context
from scopa_server.room.decide import decide, open_room
from scopa_server.room.decide.internal import Internal
from scopa_server.room.events import Events, read_events, write_events
from scopa_server.room.project import Scene, project
from scopa_server.room.state import Room, Shuffle
from scopa_server.rules.cards import DECK

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


class Table:
    """A room with people on it. Time passes a second a commit."""

    def __init__(self, seed: int = 0, **rules: object) -> None:
        asked = {"variant": "scopone_scientifico", **rules}
        self.shuffles = shuffles(seed)
        self.room = Room(code="TESTROOM")
        self.log: list[tuple[int, bytes]] = []
        self.numbers = count(1)
        self.online: frozenset[int] = frozenset()
        self.offline_ms: dict[int, int] = {}
        self.watchers: tuple[str, ...] = ()
        self.append(open_room(c.Create(name=NAMES[0], rules=asked), token(0), None))
        self.online = frozenset({0})

    @property
    def context(self) -> Context:
        """The world as it is now."""
        return Context(
            shuffles=self.shuffles,
            online=self.online,
            offline_ms=self.offline_ms,
            watchers=self.watchers,
        )

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

    def view(self, seat: int | None) -> View:
        """What a seat or a watcher sees."""
        return project(
            self.room, seat, Scene(log="log", online=self.online, watchers=self.watchers)
        )

    def play(self, chance: random.Random, *, auto: bool = False) -> Events:
        """Let the seat to play play any legal card."""
        seat = self.room.to_play
        assert seat is not None
        view = self.view(seat)
        assert view.options is not None
        card = chance.choice(sorted(view.options))
        take = chance.choice(view.options[card] or [[]])
        command = c.Play(deal=view.deal, turn=view.turn, card=card, take=take)
        return self.do(seat, command, auto=auto)

    def step(self, chance: random.Random) -> Events:
        """One step of a match that people play quickly: a card, or all of them ready."""
        if self.room.phase == "playing":
            return self.play(chance)
        deal = self.room.deal_number
        events: Events = ()
        for seat in sorted(self.online):
            events += self.do(seat, c.Ready(deal=deal))
        return events
