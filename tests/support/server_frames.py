"""Views and frames as a server would send them, with few words."""

from typing import Any

from msgspec import structs

from scopa_protocol.events import RoomEvent
from scopa_protocol.frames import Error, Hello, Joined, Limits, RoomFrame, Update
from scopa_protocol.rules import Rules
from scopa_protocol.views import Count, Proof, SeatView, SideCount, SideView, View
from support.wire import seat_view, view

CODE = "KRTNWXYZ"
HELLO = Hello(
    version=1,
    server="fake/1",
    limits=Limits(frame_bytes=16384, waiting=8, seat_connections=4, name_length=24, say_length=280),
    variants=["scopa", "scopone", "of_tomorrow"],
    bot_levels=["easy", "normal"],
    key_needed=False,
)


def a_seat(number: int, name: str | None, **changes: Any) -> SeatView:
    """A seat with a person on it, or an empty one."""
    usual: dict[str, Any] = {
        "name": name,
        "kind": "empty" if name is None else "person",
        "online": name is not None,
        "side": number,
    }
    return seat_view(number, **usual | changes)


def a_side(number: int, score: int = 0, captured: int = 0, *scope_cards: str) -> SideView:
    """A side; it has a scopa for each card that made one."""
    return SideView(
        side=number,
        score=score,
        captured=captured,
        scope=len(scope_cards),
        scope_cards=list(scope_cards),
    )


def lobby(*names: str | None, you: int | None = 0, **changes: Any) -> View:
    """A room before its match; names by seat, null for an empty one."""
    people = names or ("Anna", None)
    usual: dict[str, Any] = {
        "room": CODE,
        "rules": Rules(players=len(people), sides=len(people)),
        "you": you,
        "seats": [a_seat(number, name) for number, name in enumerate(people)],
        "sides": [a_side(number) for number in range(len(people))],
    }
    return view(**usual | changes)


def playing(*names: str, you: int | None = 0, **changes: Any) -> View:
    """A running deal: your turn, three cards, four on the table."""
    people = names or ("Anna", "Bruno")
    usual: dict[str, Any] = {
        "phase": "playing",
        "seq": 10,
        "match": 1,
        "deal": 1,
        "batch": 1,
        "dealer": 1,
        "turn": 1,
        "to_play": you,
        "table": ["3C", "4S", "7C", "10B"],
        "stock": 30,
        "hand": None if you is None else ["7D", "1S", "10S"],
        "options": {"7D": [["7C"], ["3C", "4S"]], "1S": [], "10S": [["10B"]]},
    }
    if you is None:
        usual["options"] = None
    view = lobby(*people, you=you, **usual)
    return structs.replace(view, **changes)


def a_count(deal: int = 1, **changes: Any) -> Count:
    """A count in which the first side took nearly everything."""
    count = Count(
        deal=deal,
        sides=[
            SideCount(
                cards=22,
                coins=6,
                primiera=78,
                scope=1,
                points={"cards": 1, "coins": 1, "settebello": 1, "scope": 1},
                total=4,
                pile=["7D", "3C", "4S"],
            ),
            SideCount(
                cards=18,
                coins=4,
                primiera=84,
                scope=0,
                points={"primiera": 1},
                total=1,
                pile=["10B", "1S"],
            ),
        ],
        totals=[7, 5],
        leftovers=None,
        proof=Proof(salt="00", deck="1D"),
    )
    return structs.replace(count, **changes)


def a_room(view: View, re: int | None = None) -> RoomFrame:
    """What is seen of a room before one sits down."""
    return RoomFrame(
        re=re,
        room=view.room,
        rules=view.rules,
        settings=view.settings,
        phase=view.phase,
        seats=view.seats,
        passcode=view.passcode,
    )


def joined(view: View, re: int | None = None, **changes: Any) -> Joined:
    """The answer to whoever comes in."""
    frame = Joined(
        re=re,
        room=view.room,
        seat=view.you,
        invite=f"ws://127.0.0.1:8765/{view.room}",
        talk=[],
        view=view,
    )
    return structs.replace(frame, **changes)


def update(view: View, *events: RoomEvent, re: list[int] | None = None) -> Update:
    """A change of the room."""
    return Update(re=re, seq=view.seq, events=list(events), view=view)


def an_error(code: str, re: int | None = None, **details: Any) -> Error:
    """A refusal."""
    return Error(re=re, code=code, message=f"the server says {code}", details=details or None)
