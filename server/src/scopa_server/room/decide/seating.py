"""Decisions about seats: joining, leaving, moving, bots, stand-ins and the host's power."""

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.room.clock import HOST_AWAY_MS
from scopa_server.room.context import Actor, Context
from scopa_server.room.names import bot_name
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from scopa_server.room.tokens import token_hash

from . import said
from .people import admitted, departure, names, seat_at

BOT_LEVELS = ("normal",)


def join(room: Room, actor: Actor, command: c.Join, context: Context) -> e.Events:
    """Sit down, or have a seat reserved in a running match; a known token just comes back."""
    assert command.token is not None, "a token is made before a seat is taken"
    token = token_hash(command.token)
    if room.seat_of(token) is not None:
        return ()
    number = _free_seat(room, command.seat)
    seat = room.seats[number]
    replaced = None if room.in_match else number
    name = admitted(command.name, names(room, context, but=replaced))
    events: list[e.LogEvent] = []
    if seat.kind == "bot" and not room.in_match:
        events.append(e.SeatLeft(seat=number, name=seat.name or ""))
    events.append(
        e.SeatTaken(seat=number, name=name, kind="person", token=token, reserved=room.in_match)
    )
    if room.host is None:
        events.append(e.HostChanged(seat=number))
    return tuple(events)


def _free_seat(room: Room, wanted: int | None) -> int:
    if wanted is not None:
        if seat_at(room, wanted).holder is not None:
            raise said.seat_taken()
        return wanted
    free = [number for number, seat in enumerate(room.seats) if seat.holder is None]
    bots_last = sorted(free, key=lambda number: room.seats[number].kind == "bot")
    if not bots_last:
        raise Refused(ErrorCode.ROOM_FULL, "Every seat is taken; ask the host, or watch.")
    return bots_last[0]


def leave(room: Room, actor: Actor, command: c.Leave, context: Context) -> e.Events:
    """Give the seat up for good."""
    if actor.seat is None or room.seats[actor.seat].holder is None:
        return ()
    return departure(room, actor.seat, context)


def sit(room: Room, actor: Actor, command: c.Sit, context: Context) -> e.Events:
    """Move to an empty seat."""
    if seat_at(room, command.seat).kind != "empty":
        raise said.seat_taken()
    order: list[int | None] = [
        None if seat.kind == "empty" else number for number, seat in enumerate(room.seats)
    ]
    order[command.seat], order[actor.seat or 0] = actor.seat, None
    return (e.Arranged(order=tuple(order)),)


def sits(room: Room, actor: Actor, command: c.Sit) -> bool:
    """Whether the actor sits there already."""
    return actor.seat == command.seat


def arrange(room: Room, actor: Actor, command: c.Arrange, context: Context) -> e.Events:
    """Put everybody on the seat where the host wants them."""
    if len(command.names) != len(room.seats):
        raise said.no_such_seat(room)
    seats = {seat.name: number for number, seat in enumerate(room.seats) if seat.name}
    named = [name for name in command.names if name is not None]
    if sorted(named) != sorted(seats):
        raise said.stale()
    return (e.Arranged(order=tuple(None if n is None else seats[n] for n in command.names)),)


def arranged(room: Room, actor: Actor, command: c.Arrange) -> bool:
    """Whether everybody sits so already."""
    return command.names == [seat.name for seat in room.seats]


def seat_bot(room: Room, actor: Actor, command: c.SeatBot, context: Context) -> e.Events:
    """Put a bot on an empty or vacant seat."""
    seat = seat_at(room, command.seat)
    if seat.holder is not None:
        raise said.seat_taken()
    level = command.level or BOT_LEVELS[0]
    if level not in BOT_LEVELS:
        raise Refused(
            ErrorCode.NOT_ALLOWED,
            f"There is no such level; name none, or one of these: {', '.join(BOT_LEVELS)}.",
        )
    name = bot_name(names(room, context))
    return (e.SeatTaken(seat=command.seat, name=name, kind="bot", level=level),)


def has_bot(room: Room, actor: Actor, command: c.SeatBot) -> bool:
    """Whether a bot sits there already."""
    return seat_at(room, command.seat).kind == "bot"


def unseat(room: Room, actor: Actor, command: c.Unseat, context: Context) -> e.Events:
    """Remove a bot or person from a seat, or a reservation of it."""
    seat = seat_at(room, command.seat)
    if command.seat == actor.seat:
        raise Refused(ErrorCode.NOT_ALLOWED, "That is your own seat; leave to give it up.")
    if seat.reserved is not None and seat.reserved.name == command.name:
        return departure(room, command.seat, context)
    if seat.name != command.name:
        raise said.stale()
    if seat.reserved is not None:
        return (e.SeatLeft(seat=command.seat, name=command.name),)
    return departure(room, command.seat, context)


def is_gone(room: Room, actor: Actor, command: c.Unseat) -> bool:
    """Whether nobody sits there."""
    seat = seat_at(room, command.seat)
    return seat.kind in {"empty", "vacant"} and seat.reserved is None


def stand_in(room: Room, actor: Actor, command: c.StandIn, context: Context) -> e.Events:
    """Let the server play an idle seat until its person acts."""
    seat_at(room, command.seat)
    return (e.StoodIn(seat=command.seat),)


def is_served(room: Room, actor: Actor, command: c.StandIn) -> bool:
    """Whether the server plays that seat already."""
    return 0 <= command.seat < len(room.seats) and room.seats[command.seat].served


def serves_another(room: Room, actor: Actor, command: c.StandIn) -> bool:
    """Whether it is for another's seat; who hands its own to the server is not back with it."""
    return command.seat != actor.seat


def make_host(room: Room, actor: Actor, command: c.MakeHost, context: Context) -> e.Events:
    """Hand the host's power on, or claim it when the host has long been away."""
    holder = seat_at(room, command.seat).holder
    if room.host != actor.seat:
        _check_claim(room, actor, command.seat, context)
    if holder is None or holder.name != command.name:
        raise said.stale()
    return (e.HostChanged(seat=command.seat),)


def _check_claim(room: Room, actor: Actor, wanted: int, context: Context) -> None:
    if wanted != actor.seat:
        raise said.not_host(room)
    if room.host is None:
        return
    needed = HOST_AWAY_MS[room.in_match]
    away = room.seats[room.host].away and room.host not in context.online
    if not away or context.offline_ms.get(room.host, 0) < needed:
        raise Refused(
            ErrorCode.NOT_HOST,
            f"You can become host when the host has been away for {needed // 1000} seconds.",
        )


def is_host(room: Room, actor: Actor, command: c.MakeHost) -> bool:
    """Whether that person is the host already."""
    holder = seat_at(room, command.seat).holder
    return room.host == command.seat and holder is not None and holder.name == command.name


def admit_watcher(room: Room, command: c.Watch, context: Context) -> str:
    """A watcher's name as it will be shown. Raises Refused: watching_off, bad_name, name_taken."""
    if room.settings.watchers == "none":
        raise Refused(ErrorCode.WATCHING_OFF, "This room doesn't let anybody watch.")
    return admitted(command.name, names(room, context))
