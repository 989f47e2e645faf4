"""A room's state with its log, clocks and audience: what is decided is stored, then told."""

from collections.abc import Coroutine, Iterator

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_server.room.context import Actor, Context
from scopa_server.room.decide import decide
from scopa_server.room.decide.internal import CameBack, Internal, Settle
from scopa_server.room.events import Events
from scopa_server.room.project import Scene
from scopa_server.room.state import Room

from .audience import Audience
from .bouncer import Bouncer
from .clocks import Came, Clocks
from .gossip import Gossip
from .growth import Allowed, Growth
from .ledger import Begun, Ledger
from .surroundings import Surroundings
from .visitor import Visitor


class Table:
    """The one writer of a room in this process: its task, or a card while that sleeps."""

    def __init__(
        self,
        ledger: Ledger,
        around: Surroundings,
        gossip: Gossip,
        growth: Growth,
        shown: int | None,
    ) -> None:
        self.ledger = ledger
        self.audience = Audience(around.bounds.max_connections_per_seat)
        self._gossip = gossip
        self.bouncer = Bouncer(self.audience, gossip, around)
        self._growth = growth
        self.clocks = Clocks(around.time, ledger.room, shown)
        self._around = around
        self._told = (ledger.log_id, ledger.room.seq)
        self._marked = 0
        self._introduced = False
        self._came: Came | None = None
        self._context = Context(shuffles=around.shuffles)
        """The latest with everybody there and nothing special: most are the same."""
        self._scene = Scene(log=ledger.log_id, online=frozenset(), watchers=(), clock=None)
        """The latest."""

    @property
    def room(self) -> Room:
        """The state, as of the latest commit."""
        return self.ledger.room

    @property
    def online(self) -> frozenset[int]:
        """Seats with a connection, to this process or another."""
        here, gossip = self.audience.online, self._gossip
        return here if gossip.is_alone else here | gossip.online(self.ledger.room)

    @property
    def watchers(self) -> tuple[str, ...]:
        """Names of those who watch, through this process or another."""
        here, gossip = self.audience.watchers, self._gossip
        return here if gossip.is_alone else (*here, *gossip.watchers)

    @property
    def is_new(self) -> bool:
        """Whether this process has yet to hear how far time has run for those who were here."""
        return self._came is not None

    @property
    def is_heard(self) -> bool:
        """Whether the store took what this process said last."""
        return self._gossip.reached

    @property
    def has_gossip(self) -> bool:
        """Whether other processes don't know yet who is here."""
        return self._gossip.has_news(self.audience)

    async def meet(self) -> bool:
        """Exchange with other processes who is there; whether there is one not heard of before."""
        came = await self._gossip.exchange(self.audience)
        self.clocks.rank = self._gossip.rank
        self.audience.latest = max(self.audience.latest, self._gossip.latest)
        return came

    async def gossip(self) -> None:
        """Exchange with other processes who is there, and tell. Raises Refused, RoomLost."""
        online, watchers = self.online, self._gossip.watchers
        came, events = await self.meet(), self.bouncer.thin_out()
        await self._compare_clocks(came)
        events += [*self._presence(online), *self._watchers(watchers)]
        if events:
            self.tell(events)
            await self.do(Settle())

    async def _compare_clocks(self, came: bool) -> None:
        """Those who are here tell the store how far time has run; who has just come looks there."""
        if not self.audience.anyone:
            return
        if not self._introduced:
            self._introduced = True
            self._came = None if self._gossip.is_alone else self.clocks.come(self.room)
        elif self._came is not None and self._came.was_answered(self._around.time.now()):
            noted = await self.ledger.shown()
            if noted is not None:
                self._came.follow(self.clocks, self.room, noted)
                self._came = None
        elif came:
            await self.touch()

    def _presence(self, before: frozenset[int]) -> Iterator[told.RoomEvent]:
        for seat in sorted(before ^ self.online):
            holder = self.room.seats[seat].holder
            if seat in before and holder is not None:
                self.clocks.went(holder.token)
            yield told.Presence(seat=seat, online=seat not in before)

    def _watchers(self, before: tuple[str, ...]) -> Iterator[told.RoomEvent]:
        after = self._gossip.watchers
        yield from (told.WatcherCame(name=name) for name in after if name not in before)
        yield from (told.WatcherLeft(name=name) for name in before if name not in after)

    async def disown_absences(self) -> None:
        """Answer an absence that another process took for one of somebody who is here."""
        # Seats may be others by now, and fewer: who is here is known by the token.
        for token in {visitor.token for visitor in self.audience}:
            seat = None if token is None else self.room.seat_of(token)
            if token is not None and seat is not None and self.room.seats[seat].away:
                await self.do(CameBack(token))

    @property
    def waits(self) -> bool:
        """Whether time matters: a clock runs, or a person is missed."""
        return self.clocks.run(self.room, self.online)

    @property
    def is_marked_ahead(self) -> bool:
        """Whether the store was told of more time than has run: its clock was set back since."""
        return self.clocks.mark(self.room) < self._marked

    async def touch(self) -> None:
        """Let the store know that the room is shown, and how far its time has run."""
        self._marked = self.clocks.mark(self.room)
        await self.ledger.touch(self._marked)

    async def part(self) -> None:
        """Let other processes know that nobody is here any more."""
        await self._gossip.leave()

    def commit(
        self,
        who: Actor | Visitor,
        command: c.Command | Internal,
        passcode: str | None = None,
        allowed: Allowed | None = None,
        *,
        begun: Begun | None = None,
    ) -> Coroutine[None, None, list[told.RoomEvent] | None]:
        """Decide and store; what people hear of it, None if nothing changed.

        `begun`: it was decided before. Raises Refused, RoomLost.
        """

        def decided(room: Room) -> Events:
            events = self._decide(who, command, passcode)
            if allowed is not None and events:
                allowed(room.seq, events)
            return events

        return self.ledger.commit(decided, begun)

    def begin(self, visitor: Visitor, command: c.Command) -> Begun | None:
        """Decide a card and hand it to the store; None if nothing changes, or it isn't paid for.

        Raises Refused.
        """
        events = self._decide(visitor, command)
        if events and self._growth.pays(visitor, self.room.seq):
            return self.ledger.begin(events)
        return None

    def _decide(
        self, who: Actor | Visitor, command: c.Command | Internal, passcode: str | None = None
    ) -> Events:
        room = self.ledger.room
        # What was read from the store on the way may have moved people.
        self.audience.move(room)
        actor = who if isinstance(who, Actor) else Actor(who.seat, who.name)
        context = self.context(passcode, timed=isinstance(command, c.Pause))
        return decide(room, actor, command, context)

    async def do(self, command: Internal) -> None:
        """Let the server do something, and tell. Raises Refused, RoomLost."""
        self.tell(await self.commit(Actor(None), command))

    def context(self, passcode: str | None = None, *, timed: bool = False) -> Context:
        """The world outside the log, for a decision; `timed`: and how long it was waited for."""
        room, online, watchers = self.ledger.room, self.online, self.watchers
        plain = passcode is None and not timed and len(online) == len(room.seats)
        latest = self._context
        if plain and latest.online is online and latest.watchers is watchers:
            return latest
        context = Context(
            shuffles=self._around.shuffles,
            online=online,
            offline_ms=self.clocks.offline_ms(room, online),
            watchers=watchers,
            passcode=passcode,
            used_ms=self.clocks.used_ms(room) if timed else None,
        )
        if plain:
            self._context = context
        return context

    def scene(self) -> Scene:
        """The world outside the log, for a view."""
        online, watchers, log = self.online, self.watchers, self.ledger.log_id
        clock = self.clocks.shown(self.ledger.room, online)
        latest = self._scene
        if (latest.online is online and latest.watchers is watchers) and (
            latest.clock is clock and latest.log == log
        ):
            return latest
        self._scene = Scene(log=log, online=online, watchers=watchers, clock=clock)
        return self._scene

    @property
    def next_at(self) -> float | None:
        """When something will be due that nobody asks for."""
        return self.clocks.next_at(self.ledger.room, self.online)

    @property
    def is_calm(self) -> bool:
        """Whether everybody has been shown the present state, and nothing is ahead but a card."""
        ledger = self.ledger
        room = ledger.room
        return (
            self._told == (ledger.log_id, room.seq)
            and self.clocks.next_at(room, self.online) is None
            and room.clock_from >= self._marked
            and not ledger.wants_snapshot
        )

    def note(self) -> None:
        """Let the clocks see who is here and what is awaited."""
        self.clocks.note(self.ledger.room, anyone=self.audience.anyone)

    def tell(
        self,
        heard: list[told.RoomEvent] | None,
        *,
        answering: tuple[Visitor, int | None] | None = None,
        but: Visitor | None = None,
    ) -> None:
        """Show everybody the room after what happened, or who asked if nothing did."""
        ledger = self.ledger
        room, missed = ledger.room, ledger.take_missed()
        self.audience.reseat(room)
        self.note()
        if missed:
            self._growth.overhear(self.room, missed)
            heard = [*missed, *(heard or ())]
        only = answering[0] if heard is None and answering is not None else None
        if heard is None and only is None:
            return
        if only is None and but is None:
            self._told = (ledger.log_id, room.seq)
        self.audience.show(room, self.scene(), heard or [], answering=answering, but=but, only=only)

    def tell_news(self) -> None:
        """Show everybody what was read from the store without being told yet."""
        if self._told != (self.ledger.log_id, self.room.seq):
            self.tell([])
