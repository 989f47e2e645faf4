"""How often a stranger may be wrong, and who never has to wait."""

from contextlib import ExitStack

import pytest

from scopa_protocol.codes import ErrorCode
from scopa_server.bounds import Bounds
from scopa_server.live import failures as failing
from scopa_server.live.failures import Failures
from scopa_server.metrics import Limit, Metrics
from scopa_server.room.refused import Refused
from support.fake_time import FakeTime
from support.front import front
from support.house import House
from support.player import Player
from support.raw import raw
from support.tables import token

WRONG = Refused(ErrorCode.WRONG_PASSCODE, "no")


class Door:
    """Failures with a clock that is moved by hand."""

    def __init__(self, each: int = 3, room: int = 10) -> None:
        self.time = FakeTime()
        self.metrics = Metrics()
        bounds = Bounds(max_failures_per_address=each, max_failures_per_room=room)
        self.failures = Failures(self.time, bounds, self.metrics)

    def fail(self, address: str, room: str | None = "ROOM", times: int = 1) -> None:
        """Be wrong so often, waiting as long as need be."""
        for _ in range(times):
            self.time.advance(self.failures.wait(address, room))
            with pytest.raises(Refused), self.failures.trying(address, room):
                raise WRONG

    def wait(self, address: str, room: str | None = "ROOM") -> float:
        """Seconds until the next try, to the tenth."""
        return round(self.failures.wait(address, room), 1)


def test_some_failures_are_free_then_each_costs_more() -> None:
    door = Door()
    for _ in range(3):
        assert door.wait("a") == 0
        door.fail("a")
    waits = []
    for _ in range(10):
        waits.append(door.wait("a"))
        door.fail("a")
    assert waits[0] == 1
    assert waits == sorted(waits)
    assert waits[-1] > 30
    assert max(waits) <= failing.LONGEST_DELAY


def test_a_try_that_must_wait_is_refused_and_counted() -> None:
    door = Door()
    door.fail("a", times=3)
    with pytest.raises(Refused) as refused, door.failures.trying("a", "ROOM"):
        pytest.fail("it was tried")
    assert refused.value.code is ErrorCode.TOO_FAST
    assert refused.value.details == {"retry_ms": 1000}
    met = door.metrics.registry.get_sample_value
    assert met("scopa_limits_met_total", {"limit": Limit.ADDRESS_FAILURES}) == 1


def test_failures_are_forgiven_one_at_a_time() -> None:
    door = Door()
    door.fail("a", times=3)
    door.time.advance(failing.FORGIVEN_SECONDS)
    assert door.wait("a") == 0
    door.fail("a")
    assert door.wait("a") > 0
    door.time.advance(failing.FORGIVEN_SECONDS * 4)
    assert door.wait("a") == 0
    door.fail("a", times=3)


def test_what_succeeds_costs_nothing() -> None:
    door = Door()
    for _ in range(100):
        with door.failures.trying("a", "ROOM"):
            pass
    with pytest.raises(Refused), door.failures.trying("a", "ROOM"):
        raise Refused(ErrorCode.ROOM_FULL, "not wrong")
    assert door.wait("a") == 0


def test_many_tries_at_once_are_no_more_than_one_by_one() -> None:
    door = Door()
    with ExitStack() as tries:
        for _ in range(3):
            tries.enter_context(door.failures.trying("a", "ROOM"))
        with pytest.raises(Refused), door.failures.trying("a", "ROOM"):
            pytest.fail("it was tried")
        assert door.wait("a") == failing.FIRST_DELAY
        assert door.wait("b") == 0
    assert door.wait("a") == 0


def test_who_attacks_a_room_keeps_nobody_else_out() -> None:
    door = Door(each=3, room=10)
    for number in range(50):
        door.fail(f"attacker {number}", times=2)
    # A friend who has not been wrong comes in at once; one who was waits for that alone.
    assert door.wait("friend") == 0
    door.fail("friend")
    assert door.wait("friend") == 1
    assert door.wait("friend", "OTHER") == 0
    door.time.advance(1)
    assert door.wait("friend") == 0
    door.time.advance(1)
    door.fail("friend")
    assert door.wait("friend") > 1


def test_attackers_have_fewer_tries_at_a_room_under_attack() -> None:
    door = Door(each=20, room=10)
    for number in range(10):
        door.fail(f"attacker {number}")
    assert door.wait("attacker 1") > 0
    assert door.wait("attacker 1", "OTHER") == 0
    with pytest.raises(Refused), door.failures.trying("attacker 1", "ROOM"):
        pytest.fail("it was tried")
    met = door.metrics.registry.get_sample_value
    assert met("scopa_limits_met_total", {"limit": Limit.ROOM_FAILURES}) == 1


def test_a_room_cools_down() -> None:
    door = Door(each=20, room=10)
    for number in range(10):
        door.fail(f"attacker {number}")
    door.time.advance(failing.ROOM_COOLS_SECONDS + failing.FORGIVEN_SECONDS)
    door.fail("late", times=2)
    assert door.wait("late", "OTHER") == 0


def test_an_attack_all_over_the_server_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "SERVER_FAILURES", 30)
    door = Door(each=20)
    for number in range(31):
        door.fail(f"attacker {number}", f"ROOM{number}")
    assert door.wait("attacker 1", "ROOM99") > 0
    assert door.wait("friend", "ROOM99") == 0


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "KEPT", 100)
    door = Door(each=1)
    door.fail("worst", "ROOM", times=5)
    for number in range(1000):
        door.fail(f"address {number}", f"ROOM {number}")
        assert len(door.failures._addresses) <= 100
        assert len(door.failures._rooms) <= 100
    assert door.failures._trying == {}


# Over the wire


async def test_who_guesses_is_slowed_and_a_token_never_is() -> None:
    free = 20
    async with front() as served, Player(served.url) as anna:
        joined = await anna.host("Anna")
        assert anna.token is not None
        guesses = [
            {"type": "look", "room": "ABCDEFGH"},
            {"type": "join", "room": "ABCDEFGH", "name": "Ugo"},
            {"type": "watch", "room": "ABCDEFGH", "name": "Ugo"},
            {"type": "resume", "room": joined.room, "token": token(9)},
        ]
        async with raw(served.url) as stranger:
            codes = [await stranger.refused(guesses[n % 4]) for n in range(free)]
            assert set(codes) == {"unknown_room", "bad_token"}
            for guess in guesses:
                await stranger.send(guess)
                error = await stranger.until("error")
                assert (error["code"], error["details"]) == ("too_fast", {"retry_ms": 1000})
            # The code is right, but so many were wrong that nobody here may try.
            assert await stranger.refused({"type": "look", "room": joined.room}) == "too_fast"
        async with Player(served.url) as again:
            assert (await again.resume(joined.room, anna.token)).seat == 0
        served.house.time.advance(2)
        async with raw(served.url) as stranger:
            await stranger.send({"type": "look", "room": joined.room})
            assert (await stranger.until("room"))["room"] == joined.room


@pytest.mark.parametrize(("key", "answer"), [(None, "joined"), ("segreto", "error")])
async def test_who_hosts_guesses_nothing_but_a_key(key: str | None, answer: str) -> None:
    house = House(access_key=key, bounds=Bounds(max_failures_per_address=2))
    async with front(house) as served, raw(served.url) as line:
        for _ in range(2):
            await line.refused({"type": "look", "room": "ABCDEFGH"})
        create = {"type": "create", "id": 1, "name": "Anna", "rules": {}, "key": "segreto"}
        opened = await line.ask(create)
        assert (opened["type"], opened.get("code")) == (answer, "too_fast" if key else None)


async def test_a_key_can_not_be_tried_out() -> None:
    house = House(access_key="segreto", bounds=Bounds(max_failures_per_address=2))
    async with front(house) as served, raw(served.url) as line:
        create = {"type": "create", "name": "Anna", "rules": {}}
        assert await line.refused(create) == "bad_key"
        assert await line.refused({**create, "key": "segret"}) == "bad_key"
        assert await line.refused({**create, "key": "segreto"}) == "too_fast"


async def test_a_passcode_can_not_be_tried_out() -> None:
    bounds = Bounds(max_failures_per_address=3)
    async with (
        front(House(bounds=bounds)) as served,
        raw(served.url) as anna,
        raw(served.url) as ugo,
    ):
        create = {"type": "create", "id": 1, "name": "Anna", "rules": {}, "passcode": "bastoni"}
        room = (await anna.ask(create))["room"]
        join = {"type": "join", "room": room, "name": "Ugo"}
        for number in range(3):
            wrong = {**join, "passcode": f"guess {number}"}
            assert await ugo.refused(wrong) == "wrong_passcode"
        assert await ugo.refused({**join, "passcode": "bastoni"}) == "too_fast"
