"""Several workers at one port: a table spread over them, one of them killed, all stopped."""

import asyncio
import os
import random
import socket
import ssl
from pathlib import Path
from signal import SIGHUP, SIGKILL, SIGSTOP, SIGTERM, Signals

import pytest

from scopa_protocol import commands as c
from support.player import Player
from support.redis_server import RedisServer, free_port
from support.server_process import READY_WITHIN, NotStarted, Serve, ServerProcess
from support.tables import NAMES
from support.workers import TWO, becomes, connected, counted, pids, spread

TLS = Path(__file__).parents[1] / "data" / "tls"
CERTIFIED = ("--tls-cert", str(TLS / "cert.pem"), "--tls-key", str(TLS / "key.pem"))


def by_tls(server: ServerProcess) -> Player:
    """Somebody who speaks TLS, whose connection is served where it comes."""
    trusts = ssl.create_default_context(cafile=TLS / "cert.pem")
    return Player(f"wss://localhost:{server.port}", trusts=trusts)


async def refuses(port: int) -> None:
    """Wait until nobody listens any more."""
    async with asyncio.timeout(READY_WITHIN):
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)):
                    return
            await asyncio.sleep(0.05)


async def test_a_match_over_two_workers_goes_on_when_one_is_killed(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(*TWO, *CERTIFIED, store=redis.url)
    there = await spread(server, 2, by_tls)
    people = [there[1][0], there[2][0], there[1][1], there[2][1]]
    code = (await people[0].host(NAMES[0])).room
    for seat in (1, 2, 3):
        await people[seat].join(code, NAMES[seat], seat=seat)
    await people[0].do(c.Start())
    chances = [random.Random(seat) for seat in range(4)]
    await asyncio.gather(*(p.play_on(r, until=7) for p, r in zip(people, chances, strict=True)))

    before = pids(server)
    os.kill(before[2], SIGKILL)
    for seat in (1, 3):
        token = people[seat].token or ""
        await people[seat].socket.wait_closed()
        people[seat] = await connected(server, by_tls)
        await people[seat].resume(code, token)
    await becomes(server, "scopa_worker_up", {1: 1, 2: 1})
    assert counted(server, "scopa_worker_restarts_total") == {1: 0, 2: 1}
    assert pids(server)[1] == before[1]
    assert pids(server)[2] != before[2]
    ended = [e for e in server.entries if e["event"] == "worker_ended"]
    assert [(e["worker"], e["status"]) for e in ended] == [(2, -9)]

    views = await asyncio.gather(*(p.play_on(r) for p, r in zip(people, chances, strict=True)))
    assert len({(view.seq, view.winner, str(view.matches)) for view in views}) == 1
    for player in people:
        await player.socket.close()


@pytest.mark.usefixtures("as_from_a_terminal")
@pytest.mark.parametrize("number", [SIGTERM, SIGHUP])
async def test_all_are_stopped_together(number: Signals, serve: Serve, redis: RedisServer) -> None:
    server = serve(*TWO, store=redis.url)
    assert server.said.count("Scopa server on") == 1
    assert server.page("/readyz") == (200, "ok\n")
    there = await spread(server, 1)
    server.send(number)
    assert await asyncio.to_thread(server.wait) == 0
    for (player,) in there.values():
        await player.socket.wait_closed()
        assert player.socket.close_code == 1012
    said = [(entry["event"], entry.get("worker")) for entry in server.entries]
    assert {("stopped", 1), ("stopped", 2)} <= set(said)
    assert said[-1] == ("stopped", None)
    await refuses(server.port)


async def test_workers_end_without_their_supervisor(serve: Serve, redis: RedisServer) -> None:
    server = serve(*TWO, store=redis.url)
    server.kill()
    await refuses(server.port)
    server.start()
    assert server.page("/readyz")[0] == 200


async def test_a_worker_that_hangs_hides_no_other(serve: Serve, redis: RedisServer) -> None:
    server = serve(*TWO, store=redis.url)
    stuck = pids(server)[1]
    os.kill(stuck, SIGSTOP)
    assert counted(server, "scopa_worker_up") == {1: 0, 2: 1}
    assert server.page("/readyz") == (200, "ok\n")
    os.kill(pids(server)[2], SIGSTOP)
    status, why = server.page("/readyz")
    assert (status, why) == (503, "worker 1: no answer; worker 2: no answer\n")
    for pid in pids(server).values():
        os.kill(pid, SIGKILL)
    await becomes(server, "scopa_worker_restarts_total", {1: 1, 2: 1})


def test_what_keeps_workers_from_starting_is_said_once(serve: Serve) -> None:
    with pytest.raises(NotStarted) as caught:
        serve(*TWO, store=f"redis://127.0.0.1:{free_port()}/0")
    assert caught.value.status == 1
    assert caught.value.words.count("doesn't answer: is it running") == 1


@pytest.mark.parametrize("options", [(), TWO])
def test_a_store_of_another_kind_is_said_in_words(
    options: tuple[str, ...], serve: Serve, redis: RedisServer
) -> None:
    with pytest.raises(NotStarted) as caught:
        serve(*options, store=redis.url.replace("redis:", "redis+cluster:"))
    assert caught.value.status == 1
    assert caught.value.words.count("name it with redis://") == 1
    assert "fault" not in caught.value.words


@pytest.mark.parametrize("options", [(), TWO])
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis://:wrong@127.0.0.1:{}/0", "doesn't take this user and password"),
        ("redis+cluster://Ugo:wrong@127.0.0.1:{}", "doesn't take this user and password"),
        ("redis://127.0.0.1:{}/99", "has no database of that number"),
        ("redis+sentinel://127.0.0.1:{}/scopa", "is no sentinel"),
    ],
)
def test_a_store_that_lets_nobody_in_is_said_in_words(
    url: str, words: str, options: tuple[str, ...], serve: Serve, redis: RedisServer
) -> None:
    with pytest.raises(NotStarted) as caught:
        serve(*options, store=url.format(redis.port))
    assert caught.value.status == 1
    assert caught.value.words.count(words) == 1
    assert "wrong" not in caught.value.words
    assert "is it running" not in caught.value.words


def test_a_port_in_use_by_other_workers_is_refused(serve: Serve, redis: RedisServer) -> None:
    server = serve(*TWO, store=redis.url)
    with pytest.raises(NotStarted, match=f"port {server.port} on 127.0.0.1 is in use"):
        serve(*TWO, "--port", str(server.port), name="other", store=redis.url)


def test_a_file_serves_one_process(serve: Serve) -> None:
    with pytest.raises(NotStarted, match="a SQLite file serves one process") as caught:
        serve(*TWO)
    assert caught.value.status == 2
