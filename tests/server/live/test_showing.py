"""What a room shows at one moment."""

from scopa_protocol.events import Presence
from scopa_server.live.showing import EVENTS_KEPT, Showing, Update
from scopa_server.room.project import Scene
from support.tables import four

ROOM = four().room
MANY = [Presence(seat=number, online=True) for number in range(3 * EVENTS_KEPT)]


def update(first: int, last: int) -> Update:
    """An update with some of many events."""
    return Update(Showing(ROOM, Scene(log="0"), MANY[first:last]), None)


def test_an_update_tells_the_latest_of_too_many_events() -> None:
    """A process may read more of another's commits at once than any connection is to hear."""
    for shown in (update(0, 250), update(0, 90).after(update(0, 50)), update(0, 50)):
        assert len(shown.events) <= EVENTS_KEPT
    assert update(0, 250).events == MANY[150:250]
    assert update(50, 250).after(update(0, 50)).events == MANY[150:250]
    assert update(90, 110).after(update(0, 90)).events == MANY[10:110]
