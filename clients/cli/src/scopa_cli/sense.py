"""What a server sent, as far as it makes sense: the rest of the client may rely on it."""

from itertools import chain

from msgspec import structs

from scopa_protocol.codec import JSON
from scopa_protocol.frames import Joined, ServerFrame, Update
from scopa_protocol.invite import read_code, read_invite, write_invite
from scopa_protocol.views import View


def readable(data: bytes, endpoint: str) -> ServerFrame | None:
    """A frame; None if it can't be read or makes no sense, which the next view makes good."""
    try:
        frame = JSON.decode_frame(data)
    except ValueError:
        return None
    if isinstance(frame, Joined):
        return _pasteable(frame, endpoint) if _is_entered(frame) else None
    return None if isinstance(frame, Update) and not _is_playable(frame.view) else frame


def _is_entered(frame: Joined) -> bool:
    sound = frame.seat == frame.view.you and read_code(frame.room) is not None
    return sound and _is_playable(frame.view)


def _is_playable(view: View) -> bool:
    """Whether the viewer sits at the table, and can play what is offered."""
    takes = chain.from_iterable((view.options or {}).values())
    return (view.you is None or 0 <= view.you < len(view.seats)) and all(map(_each_once, takes))


def _each_once(cards: list[str]) -> bool:
    return len(set(cards)) == len(cards)


def _pasteable(frame: Joined, endpoint: str) -> Joined:
    """With the server's invite, or one to where it was reached: it is pasted into a shell."""
    try:
        if read_invite(frame.invite).endpoint is not None:
            return frame
    except ValueError:
        pass
    own = write_invite(endpoint.removesuffix("/ws"), frame.room)
    return structs.replace(frame, invite=own)
