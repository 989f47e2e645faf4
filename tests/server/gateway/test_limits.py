"""How often a stranger may be wrong."""

import pytest

from scopa_server.gateway import limits, lines
from scopa_server.gateway.limits import Allowance, Failures
from support.front import front
from support.house import House
from support.player import Player
from support.raw import raw
from support.tables import token


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Now."""
        return self.now


def counting(burst: int = 3, whole: int = 100) -> tuple[Failures, Clock]:
    """Failures with a small allowance: one more each 2 s."""
    clock = Clock()
    return Failures(clock, Allowance(burst, 2.0), Allowance(whole, 1.0)), clock


def test_a_burst_is_free_then_one_at_a_time() -> None:
    failures, clock = counting()
    for _ in range(3):
        assert failures.wait_ms("a") == 0
        failures.count("a")
    assert failures.wait_ms("a") == 2000
    clock.now += 2
    assert failures.wait_ms("a") == 0
    failures.count("a")
    assert failures.wait_ms("a") == 2000
    clock.now += 1000
    assert failures.wait_ms("a") == 0


def test_addresses_pay_for_themselves() -> None:
    failures, _ = counting()
    for _ in range(5):
        failures.count("a")
    assert failures.wait_ms("a") == 6000
    assert failures.wait_ms("b") == 0


def test_many_addresses_pay_together() -> None:
    failures, clock = counting(whole=10)
    for number in range(10):
        failures.count(str(number))
    assert failures.wait_ms("new") == 1000
    clock.now += 1
    assert failures.wait_ms("new") == 0


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ADDRESSES_KEPT", 100)
    failures, clock = counting(burst=1, whole=10_000)
    for number in range(1000):
        failures.count(str(number))
        assert len(failures._addresses) <= 100
    assert failures.wait_ms("999") > 0
    clock.now += 1000
    for number in range(99):
        failures.count(f"late {number}")
    assert len(failures._addresses) <= 100


class Far:
    """A line from an address."""

    def __init__(self, address: str | None) -> None:
        self.remote_address = None if address is None else (address, 5, 0, 0)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("a pipe", "a pipe"),
        (None, "unknown"),
    ],
)
def test_a_network_of_one_customer_is_one_address(address: str | None, counted: str) -> None:
    assert lines.address_of(Far(address)) == counted  # type: ignore[arg-type]


async def test_who_guesses_is_slowed_and_a_token_never_is() -> None:
    async with front() as served, Player(served.url) as anna:
        joined = await anna.host("Anna")
        assert anna.token is not None
        each_ms = round(limits.EACH_ADDRESS.seconds_each * 1000)
        guesses = [
            {"type": "look", "room": "ABCDEFGH"},
            {"type": "join", "room": "ABCDEFGH", "name": "Ugo"},
            {"type": "watch", "room": "ABCDEFGH", "name": "Ugo"},
            {"type": "resume", "room": joined.room, "token": token(9)},
        ]
        async with raw(served.url) as stranger:
            codes = [
                await stranger.refused(guesses[n % 4]) for n in range(limits.EACH_ADDRESS.burst)
            ]
            assert set(codes) == {"unknown_room", "bad_token"}
            for guess in guesses:
                await stranger.send(guess)
                error = await stranger.until("error")
                assert (error["code"], error["details"]) == ("too_fast", {"retry_ms": each_ms})
            # The code is right, but so many were wrong that nobody here may try.
            assert await stranger.refused({"type": "look", "room": joined.room}) == "too_fast"
        async with Player(served.url) as again:
            assert (await again.resume(joined.room, anna.token)).seat == 0
        served.now += 2
        async with raw(served.url) as stranger:
            await stranger.send({"type": "look", "room": joined.room})
            assert (await stranger.until("room"))["room"] == joined.room


@pytest.mark.parametrize(("key", "answer"), [(None, "joined"), ("segreto", "error")])
async def test_who_hosts_guesses_nothing_but_a_key(key: str | None, answer: str) -> None:
    async with front(House(access_key=key)) as served, raw(served.url) as line:
        for _ in range(limits.EACH_ADDRESS.burst):
            await line.refused({"type": "look", "room": "ABCDEFGH"})
        create = {"type": "create", "id": 1, "name": "Anna", "rules": {}, "key": "segreto"}
        opened = await line.ask(create)
        assert (opened["type"], opened.get("code")) == (answer, "too_fast" if key else None)


async def test_a_passcode_can_not_be_tried_out() -> None:
    async with front() as served, raw(served.url) as anna, raw(served.url) as ugo:
        create = {"type": "create", "id": 1, "name": "Anna", "rules": {}, "passcode": "bastoni"}
        room = (await anna.ask(create))["room"]
        join = {"type": "join", "room": room, "name": "Ugo"}
        for number in range(limits.EACH_ADDRESS.burst):
            wrong = {**join, "passcode": f"guess {number}"}
            assert await ugo.refused(wrong) == "wrong_passcode"
        assert await ugo.refused({**join, "passcode": "bastoni"}) == "too_fast"
