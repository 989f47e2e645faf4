"""What a try costs, whoever fails: hashing a passcode, and reading the store."""

import asyncio
import threading
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol.invite import read_code
from scopa_server.bounds import Bounds
from scopa_server.live import passcodes
from scopa_server.metrics import Limit, Metrics
from scopa_server.room.refused import Refused
from support.house import Guest, House
from support.raw import PATIENCE
from support.tables import token


class Work:
    """Counts what a try costs: hashing a passcode, and reading the store."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self._count(monkeypatch, passcodes, "_scrypt")
        for read in ("header", "read", "latest_snapshot", "top"):
            self._count(monkeypatch, house.journal, read)

    def _count(self, monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> None:
        function = getattr(where, name)

        def counted(*args: Any, **more: Any) -> Any:
            self.done.append(name)
            return function(*args, **more)

        monkeypatch.setattr(where, name, counted)


NOWHERE = "ABCDEFGH"


async def tried(house: House, work: Work, command: c.Look | c.Join | c.Watch | c.Resume) -> str:
    """What a stranger's try comes to, and what it cost."""
    work.done.clear()
    guest = Guest(house)
    try:
        if isinstance(command, c.Look):
            await house.rooms.look(guest.visitor, command)
        else:
            await house.rooms.enter(guest.visitor, command)
    except Refused as refusal:
        return " ".join([refusal.code.value, *sorted(work.done)])
    return " ".join(["in", *sorted(work.done)])


async def test_wrong_tries_cost_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_code(NOWHERE) == NOWHERE
    house = House(bounds=Bounds(max_failures_per_address=1000))
    locked, plain = await house.host(), Guest(house)
    await locked.do(c.Configure(passcode="bastoni"))
    created = c.Create(name="Anna", rules={"variant": "scopa"}, token=token(5))
    await house.rooms.create(plain.visitor, created)
    work = Work(house, monkeypatch)
    cost = "_scrypt header"
    for passcode in (None, "", "coppe", "bastoni\0", "x" * 200):
        for wrong, code in (("unknown_room", NOWHERE), ("wrong_passcode", locked.code)):
            for command in (
                c.Look(room=code, passcode=passcode),
                c.Join(room=code, name="Ugo", passcode=passcode),
                c.Join(room=code, name="Ugo", passcode=passcode, token=token(9)),
                c.Watch(room=code, name="Ugo", passcode=passcode),
            ):
                assert await tried(house, work, command) == f"{wrong} {cost}"
    # A passcode that nobody asked for costs what it would have cost; who needs none pays none.
    look = c.Look(room=plain.code, passcode="coppe")
    assert (await tried(house, work, look)).startswith(f"in {cost}")
    assert "_scrypt" not in await tried(house, work, c.Look(room=plain.code))
    for code in (NOWHERE, locked.code, plain.code):
        resume = c.Resume(room=code, token=token(9))
        assert await tried(house, work, resume) == "bad_token header"


@pytest.mark.parametrize("end", ["\0", "\0\0", "\n", "\t", "\x1b", "\x7f", "\x9b"])
async def test_a_passcode_with_a_control_character_is_refused(end: str) -> None:
    house = House()
    host = await house.host()
    await host.do(c.Configure(passcode="bastoni"))
    before = host.view.seq
    with pytest.raises(Refused, match="bad_text"):
        await host.do(c.Configure(passcode=f"coppe{end}"))
    assert host.view.seq == before
    new = c.Create(name="Ugo", rules={"variant": "scopa"}, token=token(5), passcode=f"coppe{end}")
    with pytest.raises(Refused, match="bad_text"):
        await house.rooms.create(Guest(house).visitor, new)
    assert len(house.journal.logs) == 1


async def test_who_must_wait_costs_no_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(bounds=Bounds(max_failures_per_address=1))
    locked = await house.host()
    await locked.do(c.Configure(passcode="bastoni"))
    work = Work(house, monkeypatch)
    await tried(house, work, c.Look(room=NOWHERE))
    for code in (NOWHERE, locked.code):
        assert await tried(house, work, c.Look(room=code)) == "too_fast header"


async def test_only_the_host_has_passcodes_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    host = await house.host()
    await host.do(c.Configure(passcode="bastoni", settings={"watchers": "table"}))
    guest = await house.enter(
        c.Join(room=host.code, name="Ugo", seat=1, token=token(1), passcode="bastoni")
    )
    watcher = await house.enter(c.Watch(room=host.code, name="Eva", passcode="bastoni"))
    work = Work(house, monkeypatch)
    for passcode in ("bastoni", "coppe"):
        assert await guest.refused(c.Configure(passcode=passcode)) == "not_host"
        assert await watcher.refused(c.Configure(passcode=passcode)) == "not_seated"
    assert "_scrypt" not in work.done


async def test_where_there_is_no_host_nobody_has_passcodes_hashed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    host = await house.host(settings={"watchers": "table"})
    watcher = await house.enter(c.Watch(room=host.code, name="Eva"))
    await host.do(c.Leave())
    assert watcher.view.host is None
    work = Work(house, monkeypatch)
    assert await watcher.refused(c.Configure(passcode="coppe")) == "not_seated"
    assert "_scrypt" not in work.done


async def test_a_room_that_is_not_opened_costs_no_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(bounds=Bounds(max_rooms=1))
    await house.host()
    work = Work(house, monkeypatch)
    wanted: dict[str, Any] = {"name": "Anna", "rules": {"variant": "scopa"}, "passcode": "bastoni"}
    for command, code in (
        (c.Create(**wanted, token=token(1)), "server_full"),
        (c.Create(**{**wanted, "name": ""}, token=token(1)), "bad_name"),
        (c.Create(**{**wanted, "rules": {"variant": "x"}}, token=token(1)), "bad_rules"),
        (c.Create(**wanted, token="short"), "bad_token"),
    ):
        with pytest.raises(Refused) as refused:
            await house.rooms.create(Guest(house).visitor, command)
        assert refused.value.code == code
    assert "_scrypt" not in work.done


async def test_one_address_has_few_passcodes_waiting() -> None:
    metrics = Metrics()
    checks = passcodes.Passcodes(metrics, 1)
    most = passcodes.WAITING_EACH
    try:
        waiting = [
            asyncio.create_task(checks.matches("x", None, address))
            for address in [*["a"] * (most + 3), "b"]
        ]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        refused = [outcome.code for outcome in outcomes if isinstance(outcome, Refused)]
        assert refused == ["too_fast"] * 3
        assert outcomes.count(False) == most + 1
        assert await checks.matches("x", None, "a") is False
        met = metrics.registry.get_sample_value
        assert met("scopa_limits_met_total", {"limit": Limit.PASSCODES}) == 3
    finally:
        checks.close()


async def test_passcodes_of_others_are_waited_for_once_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    begun = threading.Event()

    def hashed(passcode: str, salt: bytes) -> bytes:
        assert begun.wait(PATIENCE)
        done.append(passcode)
        return b""

    monkeypatch.setattr(passcodes, "_scrypt", hashed)
    checks = passcodes.Passcodes(Metrics(), 1)
    try:
        strangers = [f"stranger {number}" for number in range(passcodes.WAITING_EACH)]
        people = [who for who in strangers for _ in range(passcodes.WAITING_EACH)]
        waiting = [asyncio.create_task(checks.matches(who, None, who)) for who in people]
        # Whoever came first has asked for everything before the friend comes.
        await asyncio.sleep(0)
        friend = asyncio.create_task(checks.matches("friend", None, "friend"))
        await asyncio.sleep(0)
        begun.set()
        await asyncio.gather(friend, *waiting)
        assert done.index("friend") == len(strangers)
        assert len(done) == len(people) + 1
        assert (checks._waiting, checks._turns) == ({}, {})
    finally:
        begun.set()
        checks.close()
