"""Who comes from the server's own machine is held up by no limit that tells strangers apart."""

from contextlib import AsyncExitStack
from typing import Any, Final

from websockets.exceptions import ConnectionClosed

from support.raw import Raw, raw
from support.server_process import Serve

PROXIED: Final = {"X-Forwarded-For": "192.0.2.1"}
CREATE: Final[dict[str, Any]] = {
    "type": "create",
    "id": 1,
    "name": "Anna",
    "rules": {"variant": "scopa"},
}


async def crowd(stack: AsyncExitStack, url: str, count: int, **more: Any) -> list[Raw]:
    """Connect until there are so many, or one is turned away; those who were let in."""
    lines = list[Raw]()
    while len(lines) < count:
        line = await stack.enter_async_context(raw(url, **more))
        try:
            await line.ask({"type": "ping", "id": 1})
        except ConnectionClosed:
            assert line.socket.close_code == 1013
            break
        lines.append(line)
    return lines


async def rooms(lines: list[Raw]) -> list[str]:
    """Open a room on each line; what each comes to."""
    answers = [await line.ask(CREATE) for line in lines]
    return [answer.get("code", answer["type"]) for answer in answers]


async def changes(line: Raw, most: int) -> int:
    """Change the settings until that is too fast, or so often; how often it was done."""
    for number in range(most):
        change = {"type": "configure", "id": 2 + number, "settings": {"pace_ms": number % 5000}}
        answer = await line.ask(change)
        if answer["type"] != "update":
            assert answer["code"] == "too_fast"
            return number
    return most


async def test_a_load_from_the_own_machine_needs_no_options(serve: Serve) -> None:
    server = serve()
    async with AsyncExitStack() as stack:
        lines = await crowd(stack, server.url, 300)
        assert len(lines) == 300
        assert set(await rooms(lines[:250])) == {"joined"}
        assert await changes(lines[0], 200) == 200
        assert "scopa_rooms_live 250.0" in server.page("/metrics")[1]
    assert "proxy_not_trusted" not in server.log


async def test_limits_that_were_asked_for_hold_there_too(serve: Serve) -> None:
    asked = {
        "max-connections-per-address": "20",
        "max-rooms-per-address": "10",
        "max-changes-per-minute": "5",
    }
    server = serve(*(word for name, most in asked.items() for word in (f"--{name}", most)))
    async with AsyncExitStack() as stack:
        lines = await crowd(stack, server.url, 300)
        assert len(lines) == 20
        assert await rooms(lines[:11]) == [*["joined"] * 10, "server_full"]
        assert 5 <= await changes(lines[0], 200) < 200


async def test_whom_a_proxy_speaks_for_meets_every_limit(serve: Serve) -> None:
    server = serve()
    async with AsyncExitStack() as stack:
        own = await crowd(stack, server.url, 30)
        lines = await crowd(stack, server.url, 300, additional_headers=PROXIED)
        assert (len(own), len(lines)) == (30, 200)
        assert await rooms(lines[:101]) == [*["joined"] * 100, "server_full"]
        assert 120 <= await changes(lines[0], 9999) < 9999
        assert set(await rooms(own)) == {"joined"}
    assert "proxy_not_trusted" in server.log
