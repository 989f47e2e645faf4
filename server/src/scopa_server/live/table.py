"""A room's state with its log, clocks and audience: what is decided is stored, then told."""

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_server.room.context import Actor, Context
from scopa_server.room.decide import decide
from scopa_server.room.decide.internal import Internal
from scopa_server.room.events import Events
from scopa_server.room.project import Scene
from scopa_server.room.state import Room

from .audience import Audience
from .clocks import Clocks
from .ledger import Ledger
from .surroundings import Surroundings
from .visitor import Visitor


class Table:
    """The one writer of a room in this process. Only the room's task uses it."""

    def __init__(self, ledger: Ledger, around: Surroundings, shown: int | None) -> None:
        self.ledger = ledger
        self.audience = Audience()
        self.clocks = Clocks(around.time, ledger.room, shown)
        self._around = around
        self._told = (ledger.log_id, ledger.room.seq)

    @property
    def room(self) -> Room:
        """The state, as of the latest commit."""
        return self.ledger.room

    async def commit(
        self, who: Actor | Visitor, command: c.Command | Internal, passcode: str | None = None
    ) -> list[told.RoomEvent] | None:
        """Decide and store; what people hear of it, None if nothing changed.

        Raises Refused, RoomLost.
        """

        def decided(room: Room) -> Events:
            # What was read from the store on the way may have moved people.
            self.audience.move(room)
            actor = who if isinstance(who, Actor) else Actor(who.seat, name=who.name)
            return decide(room, actor, command, self.context(passcode))

        return await self.ledger.commit(decided)

    async def do(self, command: Internal) -> None:
        """Let the server do something, and tell. Raises Refused, RoomLost."""
        self.tell(await self.commit(Actor(None), command))

    def context(self, passcode: str | None = None) -> Context:
        """The world outside the log, for a decision."""
        online = self.audience.online
        return Context(
            shuffles=self._around.shuffles,
            online=online,
            offline_ms=self.clocks.offline_ms(self.room, online),
            watchers=self.audience.watchers,
            passcode=passcode,
        )

    def scene(self) -> Scene:
        """The world outside the log, for a view."""
        online = self.audience.online
        return Scene(
            log=self.ledger.log_id,
            online=online,
            watchers=self.audience.watchers,
            clock=self.clocks.shown(self.room, online),
        )

    def note(self) -> None:
        """Let the clocks see who is here and what is awaited."""
        self.clocks.note(self.room, anyone=len(self.audience) > 0)

    def tell(
        self,
        heard: list[told.RoomEvent] | None,
        *,
        answering: tuple[Visitor, int | None] | None = None,
        but: Visitor | None = None,
    ) -> None:
        """Show everybody the room after what happened, or who asked if nothing did."""
        self.audience.reseat(self.room)
        self.note()
        only = answering[0] if heard is None and answering is not None else None
        if heard is None and only is None:
            return
        if only is None and but is None:
            self._told = (self.ledger.log_id, self.room.seq)
        self.audience.show(
            self.room, self.scene(), heard or [], answering=answering, but=but, only=only
        )

    def tell_news(self) -> None:
        """Show everybody what was read from the store without being told yet."""
        if self._told != (self.ledger.log_id, self.room.seq):
            self.tell([])
