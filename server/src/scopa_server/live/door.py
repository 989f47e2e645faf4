"""Coming and going: who is let in, welcomed, missed and seen off."""

from typing import TYPE_CHECKING, Final

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import CloseCode
from scopa_protocol.frames import Joined, Talk
from scopa_protocol.invite import write_invite
from scopa_server.room.context import Actor
from scopa_server.room.decide.internal import CameBack, Settle
from scopa_server.room.decide.seating import admit_watcher
from scopa_server.room.project import project
from scopa_server.room.refused import Refused
from scopa_server.room.tokens import token_hash

from .answers import Answers, bad_token, gone, has_left, our_fault, restarting
from .growth import Growth
from .history import Historian
from .inbox import Enter
from .ledger import RoomGone, RoomLost
from .showing import Showing, Update
from .table import Table
from .visitor import Visitor

if TYPE_CHECKING:
    from .room import LiveRoom

TALK_SHOWN: Final = 20
"""Sayings that a newcomer is shown."""


class Door:
    """The door of one live room. Only the room's task uses it."""

    def __init__(
        self, table: Table, answers: Answers, historian: Historian, growth: Growth
    ) -> None:
        self._table = table
        self._answers = answers
        self._historian = historian
        self._growth = growth

    async def let_in(self, enter: Enter, live: "LiveRoom") -> None:
        """Let a visitor in, or answer why not. Raises RoomLost."""
        visitor, command = enter.visitor, enter.command
        try:
            # A join is a fact whoever made it stays for; to come back or watch one must be here.
            if not visitor.gone or isinstance(command, c.Create | c.Join):
                await self._admit(enter, live)
                self._answers.count(command)
        except Refused as refusal:
            self._answers.refuse(visitor, command, refusal)
        except RoomLost as fault:
            lost = gone(command) if isinstance(fault, RoomGone) else restarting()
            self._answers.refuse(visitor, command, lost)
            raise
        except Exception:
            self._answers.refuse(visitor, command, our_fault())
            raise
        finally:
            if not enter.done.done():
                enter.done.set_result(True)

    async def _admit(self, enter: Enter, live: "LiveRoom") -> None:
        visitor, command = enter.visitor, enter.command
        await self._table.ledger.catch_up()
        if isinstance(command, c.Watch):
            self._admit_watcher(visitor, command)
        else:
            await self._admit_person(visitor, command)
        if visitor.gone:
            self._table.clocks.went(visitor.token or "")
            return
        visitor.room = live
        made = enter.made if isinstance(command, c.Create | c.Join) else None
        self._welcome(visitor, command.id, made)

    def _admit_watcher(self, visitor: Visitor, command: c.Watch) -> None:
        table = self._table
        name = admit_watcher(table.room, command, table.context())
        table.bouncer.check_watchers()
        visitor.name = name

    async def _admit_person(self, visitor: Visitor, command: c.Create | c.Join | c.Resume) -> None:
        table, token = self._table, token_hash(command.token or "")
        if isinstance(command, c.Join):
            allowed = self._growth.allows(visitor, command)
            table.tell(await table.commit(Actor(None), command, allowed=allowed))
        if table.room.seat_of(token) is None:
            raise bad_token()
        table.bouncer.make_way(token)
        await table.do(CameBack(token))
        # What was read from the store on the way may have given the seat to somebody else.
        seat = table.room.seat_of(token)
        if seat is None:
            raise bad_token()
        visitor.token, visitor.seat = token, seat

    def _welcome(self, visitor: Visitor, re: int | None, made: str | None) -> None:
        table = self._table
        before = table.online
        table.audience.add(visitor)
        table.note()
        visitor.outbox.reply(
            Joined(
                re=re,
                room=table.room.code,
                seat=visitor.seat,
                token=made,
                invite=write_invite(visitor.invite_base, table.room.code),
                talk=[
                    Talk(name=said.name, seat=said.seat, text=said.text)
                    for said in table.room.talk[-TALK_SHOWN:]
                ],
                view=project(table.room, visitor.seat, table.scene()),
            )
        )
        if visitor.seat is None:
            table.tell([told.WatcherCame(name=visitor.name)], but=visitor)
        elif visitor.seat not in before:
            table.tell([told.Presence(seat=visitor.seat, online=True)], but=visitor)

    async def see_off(
        self, visitor: Visitor, re: int | None, heard: list[told.RoomEvent] | None
    ) -> None:
        """A visitor has left: answer it, close it, tell the others. Raises Refused, RoomLost."""
        table, token = self._table, visitor.token
        table.audience.remove(visitor)
        self._historian.drop(has_left(), visitor)
        showing = Showing(table.room, table.scene(), heard or [])
        visitor.outbox.show(Update(showing, None, None if re is None else [re]))
        visitor.outbox.close(CloseCode.LEFT, "left", "You have left the room.")
        if token is None:
            table.tell([told.WatcherLeft(name=visitor.name)])
        else:
            table.tell(heard)
        await table.do(Settle())

    async def miss(self, visitor: Visitor) -> None:
        """A connection has ended; its seat stays its person's. Raises Refused, RoomLost."""
        table = self._table
        self._historian.drop(has_left(), visitor)
        if visitor not in table.audience:
            return
        seat, token = visitor.seat, visitor.token
        table.audience.remove(visitor)
        if token is None:
            table.tell([told.WatcherLeft(name=visitor.name)])
        elif seat is not None and seat not in table.online:
            table.clocks.went(token)
            table.tell([told.Presence(seat=seat, online=False)])
            await table.do(Settle())

    def clear(self, reason: str, message: str) -> None:
        """Send everybody away, to come back at once."""
        for visitor in self._table.audience:
            self._table.audience.remove(visitor)
            visitor.outbox.close(CloseCode.RESTART, reason, message, retry=True)

    def close_room(self) -> None:
        """Send everybody away for good: there is no room to come back to."""
        for visitor in self._table.audience:
            self._table.audience.send_off(
                visitor, CloseCode.ROOM_CLOSED, "room_closed", "The server no longer has this room."
            )
