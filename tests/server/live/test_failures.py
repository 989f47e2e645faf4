"""How often a stranger may be wrong, and who never has to wait."""

import asyncio
from collections.abc import Sequence

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
from support.raw import PATIENCE, raw
from support.tables import token

WRONG = Refused(ErrorCode.WRONG_PASSCODE, "no")


class Door:
    """Failures with a clock that is moved by hand."""

    def __init__(self, each: int = 3, room: int = 10) -> None:
        self.time = FakeTime()
        self.metrics = Metrics()
        bounds = Bounds(max_failures_per_address=each, max_failures_per_room=room)
        self.failures = Failures(self.time, bounds, self.metrics)
        self.tried = 0

    async def fail(self, address: str, room: str | None = "ROOM", times: int = 1) -> None:
        """Be wrong so often, waiting as long as need be."""
        for _ in range(times):
            self.time.advance(self.failures.wait(address, room))
            with pytest.raises(Refused):
                await self.attempt(address, room)

    async def attempt(
        self,
        address: str,
        room: str | None = "ROOM",
        *,
        outcome: Refused | None = WRONG,
        until: asyncio.Event | None = None,
    ) -> str:
        """Try once; what comes of it is known when the event is set. Raises Refused."""
        async with self.failures.trying(address, room):
            self.tried += 1
            if until is not None:
                await until.wait()
            if outcome is not None:
                raise outcome
        return "in"

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is tried or waited for, nor remembered of it."""
        kept = self.failures
        return not (kept._trying or kept._waiting or kept._ended)

    def counts(self, limit: Limit) -> float:
        """How often a limit was met."""
        met = self.metrics.registry.get_sample_value
        return met("scopa_limits_met_total", {"limit": limit}) or 0

    def wait(self, address: str, room: str | None = "ROOM") -> float:
        """Seconds until the next try, to the tenth."""
        return round(self.failures.wait(address, room), 1)


async def test_some_failures_are_free_then_each_costs_more() -> None:
    door = Door()
    for _ in range(3):
        assert door.wait("a") == 0
        await door.fail("a")
    waits = []
    for _ in range(10):
        waits.append(door.wait("a"))
        await door.fail("a")
    assert waits[0] == 1
    assert waits == sorted(waits)
    assert waits[-1] > 30
    assert max(waits) <= failing.LONGEST_DELAY


async def test_a_try_that_must_wait_is_refused_and_counted() -> None:
    door = Door()
    await door.fail("a", times=3)
    with pytest.raises(Refused) as refused:
        await door.attempt("a")
    assert door.tried == 3
    assert refused.value.code is ErrorCode.TOO_FAST
    assert refused.value.details == {"retry_ms": 1000}
    assert door.counts(Limit.ADDRESS_FAILURES) == 1


async def test_failures_are_forgiven_one_at_a_time() -> None:
    door = Door()
    await door.fail("a", times=3)
    door.time.advance(failing.FORGIVEN_SECONDS)
    assert door.wait("a") == 0
    await door.fail("a")
    assert door.wait("a") > 0
    door.time.advance(failing.FORGIVEN_SECONDS * 4)
    assert door.wait("a") == 0
    await door.fail("a", times=3)


async def test_what_succeeds_costs_nothing() -> None:
    door = Door()
    for _ in range(100):
        await door.attempt("a", outcome=None)
    with pytest.raises(Refused, match="room_full"):
        await door.attempt("a", outcome=Refused(ErrorCode.ROOM_FULL, "not wrong"))
    assert door.wait("a") == 0


async def outcomes(tries: Sequence["asyncio.Task[str]"]) -> list[str]:
    """What came of each."""
    async with asyncio.timeout(PATIENCE):
        found = await asyncio.gather(*tries, return_exceptions=True)
    return [one.code.value if isinstance(one, Refused) else str(one) for one in found]


async def test_many_tries_at_once_are_no_more_than_one_by_one() -> None:
    door, known = Door(), asyncio.Event()
    tries = [asyncio.create_task(door.attempt("a", until=known)) for _ in range(9)]
    await asyncio.sleep(0)
    assert door.tried == 1
    known.set()
    assert await outcomes(tries) == ["wrong_passcode"] * 3 + ["too_fast"] * 6
    assert door.tried == 3
    assert door.wait("a") == failing.FIRST_DELAY
    assert door.wait("b") == 0


async def test_after_a_delay_one_try_at_a_time_is_made() -> None:
    door, known = Door(), asyncio.Event()
    await door.fail("a", times=3)
    door.time.advance(failing.FIRST_DELAY)
    tries = [asyncio.create_task(door.attempt("a", until=known)) for _ in range(5)]
    await asyncio.sleep(0)
    assert door.tried == 4
    known.set()
    assert await outcomes(tries) == ["wrong_passcode"] + ["too_fast"] * 4
    assert door.tried == 4


async def test_two_of_one_address_at_once_come_in_one_after_the_other() -> None:
    door, known = Door(each=1), asyncio.Event()
    tries = [asyncio.create_task(door.attempt("a", outcome=None, until=known)) for _ in range(5)]
    await asyncio.sleep(0)
    assert door.tried == 1
    known.set()
    assert await outcomes(tries) == ["in"] * 5
    assert not door.counts(Limit.ADDRESS_FAILURES)


async def test_at_a_room_under_attack_people_of_one_address_come_in_at_once() -> None:
    door, known = Door(each=20, room=10), asyncio.Event()
    for number in range(10):
        await door.fail(f"attacker {number}")
    friends = [asyncio.create_task(door.attempt("a", outcome=None, until=known)) for _ in range(4)]
    await asyncio.sleep(0)
    known.set()
    assert await outcomes(friends) == ["in"] * 4


async def test_who_gives_up_waiting_holds_up_nobody() -> None:
    door, known = Door(each=1), asyncio.Event()
    tries = [asyncio.create_task(door.attempt("a", outcome=None, until=known)) for _ in range(4)]
    await asyncio.sleep(0)
    for one in (tries[0], tries[2]):
        one.cancel()
    known.set()
    assert await outcomes([tries[1], tries[3]]) == ["in"] * 2
    assert door.is_at_rest


async def test_few_of_an_address_wait_for_what_comes_of_another_try() -> None:
    door, known = Door(each=1), asyncio.Event()
    most = failing.WAITING_EACH
    tries = [
        asyncio.create_task(door.attempt(address, outcome=None, until=known))
        for address in [*["a"] * (most + 3), "b"]
    ]
    await asyncio.sleep(0)
    known.set()
    found = await outcomes(tries)
    assert found[-3:] == ["too_fast"] * 2 + ["in"]
    assert found.count("in") == most + 2
    assert door.counts(Limit.ADDRESS_FAILURES) == 2
    assert door.is_at_rest


async def test_who_attacks_a_room_keeps_nobody_else_out() -> None:
    door = Door(each=3, room=10)
    for number in range(50):
        await door.fail(f"attacker {number}", times=2)
    # A friend who has not been wrong comes in at once; one who was waits for that alone.
    assert door.wait("friend") == 0
    await door.fail("friend")
    assert door.wait("friend") == 1
    assert door.wait("friend", "OTHER") == 0
    door.time.advance(1)
    assert door.wait("friend") == 0
    door.time.advance(1)
    await door.fail("friend")
    assert door.wait("friend") > 1


async def test_attackers_have_fewer_tries_at_a_room_under_attack() -> None:
    door = Door(each=20, room=10)
    for number in range(10):
        await door.fail(f"attacker {number}")
    assert door.wait("attacker 1") > 0
    assert door.wait("attacker 1", "OTHER") == 0
    tried = door.tried
    with pytest.raises(Refused):
        await door.attempt("attacker 1")
    assert door.tried == tried
    assert door.counts(Limit.ROOM_FAILURES) == 1


async def test_a_room_cools_down() -> None:
    door = Door(each=20, room=10)
    for number in range(10):
        await door.fail(f"attacker {number}")
    door.time.advance(failing.ROOM_COOLS_SECONDS + failing.FORGIVEN_SECONDS)
    await door.fail("late", times=2)
    assert door.wait("late", "OTHER") == 0


async def test_an_attack_all_over_the_server_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "SERVER_FAILURES", 30)
    door = Door(each=20)
    for number in range(31):
        await door.fail(f"attacker {number}", f"ROOM{number}")
    assert door.wait("attacker 1", "ROOM99") > 0
    assert door.wait("friend", "ROOM99") == 0


async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "KEPT", 100)
    door = Door(each=1)
    await door.fail("worst", "ROOM", times=5)
    for number in range(1000):
        await door.fail(f"address {number}", f"ROOM {number}")
        assert len(door.failures._addresses) <= 100
        assert len(door.failures._rooms) <= 100
    assert door.is_at_rest


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
