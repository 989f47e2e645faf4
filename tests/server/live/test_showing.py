"""What a room shows at one moment."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scopa_protocol import frames
from scopa_protocol.codec import CODECS, JSON, Codec
from scopa_protocol.events import Presence, RoomEvent
from scopa_protocol.views import Clock
from scopa_server.live.showing import EVENTS_KEPT, Showing, Update, Written
from scopa_server.room.project import Scene, card_between, project
from scopa_server.room.state import Room
from support.tables import Table, four, heard
from support.wander import GAMES, wander

ROOM = four().room
MANY = [Presence(seat=number, online=True) for number in range(3 * EVENTS_KEPT)]
STEPS = 120


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


class Moment:
    """A room as it is shown at one moment, by what was kept of others."""

    def __init__(self, room: Room, scene: Scene, events: list[RoomEvent], written: Written) -> None:
        self._room, self._scene, self._events = room, scene, events
        self._showing = Showing(room, scene, events, written)

    def look(self, viewer: int | None, codec: Codec, chance: random.Random) -> None:
        """Compare what a viewer is sent with what is made from the room alone."""
        re, missed = chance.choice([None, None, [7], [1, 2]]), chance.choice([[], [], MANY[:2]])
        sent = b"".join(Update(self._showing, viewer, re, missed).encoded(codec))
        expected = frames.Update(
            re=re,
            seq=self._room.seq,
            events=[*missed, *self._events],
            view=project(self._room, viewer, self._scene),
        )
        assert codec.decode_frame(sent) == expected


def _scene(table: Table, chance: random.Random) -> Scene:
    return Scene(
        log="log",
        online=table.online,
        watchers=chance.choice([(), (), (), ("Ugo",)]),
        clock=chance.choice([None, None, Clock(kind="turn", left_ms=chance.randrange(9000))]),
    )


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    game=st.sampled_from([*GAMES, {"variant": "scopone"}, {"variant": "scopone_scientifico"}]),
    hints=st.sampled_from(["options", "options", "off", "memory"]),
    started=st.booleans(),
)
def test_what_is_kept_of_other_moments_is_never_old(
    seed: int, game: dict[str, Any], hints: str, started: bool
) -> None:
    chance = random.Random(seed)
    written: Written = {}
    table = Table(seed=seed, target=1 + seed % 3, **game).set(hints=hints)
    if started:
        table.start()
    waiting: list[tuple[Moment, int | None, Codec]] = []
    for before, _, _, events in wander(table, seed, STEPS):
        room, scene = table.room, _scene(table, chance)
        told = [item for _, item in heard(before, events, room.at) if item is not None]
        moment = Moment(room, scene, told, written)
        viewers = [None, *range(len(room.seats))]
        # Some aren't there, and some are sent it after they were due for a later one.
        codecs = [codec for codec in CODECS.values() if chance.random() < 0.7]
        looks = [(moment, viewer, codec) for viewer in viewers for codec in codecs]
        looks = [*waiting, *chance.sample(looks, chance.randint(0, len(looks)))]
        chance.shuffle(looks)
        late = chance.choice([0, 0, 3])
        waiting = looks[:late]
        for due, viewer, codec in looks[late:]:
            due.look(viewer, codec, chance)


def test_nothing_is_kept_when_the_log_is_another() -> None:
    """A store may have gone back, and other cards be played than were seen."""
    for seed in range(20):
        chance, written = random.Random(seed), Written()
        table = Table(seed=seed, players=4).start()
        for _ in range(8):
            table.play(chance)
        before = table.room
        for plays in (1, 2):
            table.room = before
            for _ in range(plays):
                table.play(chance)
            moment = Moment(table.room, Scene(log=f"log {plays}"), [], written)
            for viewer in (None, *range(4)):
                moment.look(viewer, JSON, chance)


OF_A_CARD = {"seq", "at", "clock_from", "clock_used"}
"""What every card changes beside the deal."""


@pytest.mark.parametrize("name", Room.__struct_fields__)
def test_a_card_is_all_that_happened_only_if_nothing_else_changed(name: str) -> None:
    chance = random.Random(5)
    table = Table(seed=5, players=4).start()
    table.play(chance)
    before = table.room
    table.play(chance)
    after = table.room
    assert after.deal is not None
    assert card_between(before, after) is after.deal.plays[-1]
    # No field may hold this: it differs from all that one can.
    other = replace(after, **{name: None if name == "deal" else object()})
    assert (card_between(before, other) is None) == (name not in OF_A_CARD)
    assert card_between(after, after) is None


def test_a_card_is_not_all_if_its_deal_changed_otherwise() -> None:
    chance = random.Random(5)
    table = Table(seed=5, variant="scopa", players=4).start()
    before = table.room
    for _ in range(2):
        table.play(chance)
    assert card_between(before, table.room) is None
    while table.room.deal is not None and table.room.deal.batch == 1:
        before = table.room
        table.play(chance)
    assert before.deal is not None
    assert table.room.deal is not None
    assert len(table.room.deal.plays) == len(before.deal.plays) + 1
    assert card_between(before, table.room) is None
