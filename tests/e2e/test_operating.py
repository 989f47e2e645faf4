"""What an operator relies on: health, metrics, one server a file, TLS, and silent logs."""

import asyncio
import random
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Joined, Update
from scopa_server.journal import open_journal
from scopa_server.room import events as e
from support.player import Player
from support.redis_server import RedisServer
from support.server_process import NotStarted, Program, Serve, ServerProcess
from support.tables import token
from support.workers import TWO, spread

KEY = "the-access-key-of-this-house"
PASSCODE = "bastoni-e-coppe"


async def two(url: str) -> tuple[str, list[Player]]:
    """Two at a table, the match begun."""
    players = [Player(url), Player(url)]
    for player in players:
        await player.__aenter__()
    code = (await players[0].host("Anna", variant="scopa", players=2)).room
    await players[1].join(code, "Bruno")
    await players[0].do(c.Start())
    while players[1].view is None or not players[1].view.turn:
        await players[1].receive()
    return code, players


def mover(players: list[Player]) -> Player:
    """Whose turn it is."""
    return next(p for p in players if p.view is not None and p.view.options)


async def test_health_and_metrics_tell_what_goes_on(serve: Serve) -> None:
    server = serve()
    assert server.page("/healthz") == (200, "ok\n")
    assert server.page("/readyz") == (200, "ok\n")
    _, players = await two(server.url)
    await mover(players).do(mover(players).choice(random.Random(1)))
    await players[0].error(c.Sit(seat=1))
    status, text = await asyncio.to_thread(server.page, "/metrics")
    assert status == 200
    for line in (
        "scopa_connections_open 2.0",
        "scopa_rooms_live 1.0",
        "scopa_rooms_opened_total 1.0",
        'scopa_commands_total{outcome="ok",type="play"} 1.0',
        'scopa_commands_total{outcome="wrong_phase",type="sit"} 1.0',
    ):
        assert f"\n{line}\n" in text, line
    for player in players:
        await player.socket.close()


async def test_a_store_that_goes_and_comes_back(serve: Serve, redis: RedisServer) -> None:
    server = serve(store=redis.url)
    _, players = await two(server.url)
    play = mover(players).choice(random.Random(1))
    who = mover(players)
    redis.kill()
    assert await who.error(play) == "storage_unavailable"
    server.becomes("/readyz", 503)
    assert server.page("/healthz")[0] == 200
    redis.start()
    server.becomes("/readyz", 200)
    answer = await who.do(play)
    assert isinstance(answer, Update)
    assert answer.view.turn == 2
    for player in players:
        await player.socket.close()


async def test_a_store_that_hangs_loses_and_doubles_nothing(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(store=redis.url)
    _, players = await two(server.url)
    who = mover(players)
    before = who.view.seq if who.view else 0
    redis.send(SIGSTOP)
    try:
        number = await who.send(who.choice(random.Random(1)))
        await asyncio.to_thread(server.becomes, "/readyz", 503)
    finally:
        redis.send(SIGCONT)
    while True:
        frame = await who.receive()
        if isinstance(frame, Update) and number in (frame.re or []):
            break
    assert frame.seq == before + 1
    while len(players[0].view.recent if players[0].view else []) < 1:
        await players[0].receive()
    for player in players:
        await player.socket.close()


async def test_a_store_that_hangs_does_not_hold_up_the_end(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(store=redis.url)
    _, players = await two(server.url)
    redis.send(SIGSTOP)
    try:
        await mover(players).send(mover(players).choice(random.Random(1)))
        assert await asyncio.to_thread(server.terminate) == 0
    finally:
        redis.send(SIGCONT)
    assert "Traceback" not in server.log
    assert not [entry for entry in server.entries if "exception" in entry]
    for player in players:
        player.socket.transport.abort()
        await player.socket.wait_closed()


def test_a_second_server_on_the_same_file_is_refused(serve: Serve) -> None:
    first = serve()
    with pytest.raises(NotStarted) as refused:
        serve(name="second", store=first.store)
    assert refused.value.status == 1
    assert refused.value.words.startswith("scopa-server: ")
    assert "Traceback" not in refused.value.words
    assert first.page("/readyz")[0] == 200


def test_a_store_that_is_not_there_is_said(serve: Serve) -> None:
    with pytest.raises(NotStarted) as refused:
        serve(store="redis://someone:hunter2@127.0.0.1:1/0")
    assert refused.value.status == 1
    assert "is it running" in refused.value.words
    assert "hunter2" not in refused.value.words


# Secrets


FAULTY: Program = ("-m", "support.faulty_server")
PASSWORD = "the-password-of-that-store"


@pytest.fixture(params=["one process", "workers on Redis"])
def faulty(
    request: pytest.FixtureRequest, serve: Serve, redis: RedisServer, tmp_path: Path
) -> ServerProcess:
    """A server that fails with secrets, its own secrets in files; it logs all it can."""
    store, options = f"sqlite:{tmp_path}/scopa.db", list[str]()
    if request.param == "workers on Redis":
        assert redis.ask("CONFIG", "SET", "requirepass", PASSWORD) == b"+OK\r\n"
        store, options = redis.url.replace("//", f"//:{PASSWORD}@"), [*TWO]
    for name, secret in (("key", KEY), ("store", store)):
        (tmp_path / f"{name}.txt").write_text(secret)
    options += ["--access-key-file", f"{tmp_path}/key.txt", "--store-file", f"{tmp_path}/store.txt"]
    return serve(*options, "--log-level", "debug", store=store, program=FAULTY)


async def played(server: ServerProcess, anna: Player, bruno: Player) -> tuple[str, str]:
    """Secrets are tried and used, a deal is begun; the room, and the token that the server made."""
    rules = {"variant": "scopa", "players": 2}
    for wrong in (None, "no"):
        bad = c.Create(name="Anna", rules=rules, token=token(0), key=wrong)
        assert await anna.error(bad) == "bad_key"
    create = c.Create(name="Anna", rules=rules, passcode=PASSCODE, token=token(0), key=KEY)
    joined = await anna.do(create)
    assert isinstance(joined, Joined)
    wrong_join = c.Join(room=joined.room, name="B", passcode="no")
    assert await bruno.error(wrong_join) == "wrong_passcode"
    made = await bruno.join(joined.room, "Bruno", passcode=PASSCODE)
    assert made.token is not None
    await anna.do(c.Start())
    while bruno.view is None or not bruno.view.turn:
        await bruno.receive()
    await mover([anna, bruno]).do(mover([anna, bruno]).choice(random.Random(1)))
    return joined.room, made.token


async def test_no_secret_is_logged(faulty: ServerProcess) -> None:
    server, workers = faulty, TWO[0] in faulty.options
    if workers:
        there = await spread(server, 1)
        anna, bruno = there[1][0], there[2][0]
    else:
        anna, bruno = [await Player(server.url).__aenter__() for _ in range(2)]
    # What every user of the machine can see of it.
    shown = server.shown
    assert shown.count("support.faulty_server") == (3 if workers else 1)
    code, made = await played(server, anna, bruno)
    given = [token(0), made, PASSCODE, KEY]
    # A fault in a command, then one that ends a process: both say all that it knows.
    known = " ".join([*given, PASSWORD])
    assert await bruno.error(c.Unseat(seat=0, name=known)) == "internal_error"
    pages = [server.page(path)[1] for path in ("/metrics", "/healthz", "/readyz")]
    await bruno.send(c.StandIn(seat=0))
    await bruno.socket.wait_closed()
    await anna.socket.close()
    if workers:
        await asyncio.to_thread(server.logs, "worker_ended")
        pages += [server.page(path)[1] for path in ("/metrics", "/healthz", "/readyz")]
    assert server.terminate() == (0 if workers else 1)
    assert any(entry["event"] == "room_fault" for entry in server.entries)
    assert "KeyError" in server.log[server.log.index("a fault of the server's own") :]
    journal = await open_journal(server.store)
    commits = await journal.read(code)
    header = await journal.header(code)
    await journal.close()
    shuffles = [
        event.shuffle
        for commit in commits
        for event in e.read_events(commit.payload)
        if isinstance(event, e.Shuffled)
    ]
    assert shuffles
    stored = b"".join(commit.payload for commit in commits) + (header or b"")
    for secret in given:
        assert secret.encode() not in stored
    told = "".join([shown, server.log, server.said, *pages])
    for secret in [*given, PASSWORD, *(s.salt for s in shuffles)]:
        assert secret not in told
    for shuffle in shuffles:
        assert ",".join(shuffle.deck[:3]) not in told.replace('"', "").replace(" ", "")
