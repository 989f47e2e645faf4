"""The server's end in order, while people play; and lines that are lost."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from signal import SIGTERM

from websockets.exceptions import ConnectionClosed

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Bye, Update
from scopa_server.journal import open_journal
from scopa_server.room import events as e
from support.player import Player
from support.server_process import Serve, ServerProcess

NAMES = ("Anna", "Bruno", "Carla", "Dario")


async def table(server: ServerProcess) -> tuple[str, list[Player]]:
    """Four at a table, the match begun."""
    players = [Player(server.url, codec=MSGPACK if n % 2 else JSON) for n in range(4)]
    for player in players:
        await player.__aenter__()
    code = (await players[0].host(NAMES[0], target=99)).room
    for number in (1, 2, 3):
        await players[number].join(code, NAMES[number], seat=number)
    await players[0].do(c.Start())
    for player in players:
        while player.view is None or not player.view.turn:
            await player.receive()
    return code, players


async def plays(player: Player, acknowledged: list[c.Play], enough: asyncio.Event) -> None:
    """Play until the line closes, noting what was acknowledged."""
    chance = random.Random(5)
    with suppress(ConnectionClosed):
        while True:
            view = player.view
            assert view is not None
            if view.phase == "playing" and view.to_play == view.you:
                play = player.choice(chance)
                if isinstance(await player.do(play), Update):
                    acknowledged.append(play)
            elif view.phase == "deal_over" and not view.seats[view.you or 0].ready:
                await player.do(c.Ready(deal=view.deal))
            else:
                await player.receive()
            if len(acknowledged) >= 50:
                enough.set()
    with suppress(ConnectionClosed):
        while True:
            await player.receive()


async def test_what_was_acknowledged_outlives_a_stop(serve: Serve) -> None:
    server = serve()
    code, players = await table(server)
    acknowledged: list[c.Play] = []
    enough = asyncio.Event()
    playing = [asyncio.create_task(plays(p, acknowledged, enough)) for p in players]
    await asyncio.wait_for(enough.wait(), 20)
    server.send(SIGTERM)
    async with asyncio.timeout(10):
        await asyncio.gather(*playing)
        assert await asyncio.to_thread(server.wait) == 0
    for player in players:
        bye = player.frames[-1]
        assert isinstance(bye, Bye)
        assert (bye.code, bye.retry, player.socket.close_code) == ("restarting", True, 1012)
    log = await played(server, code)
    assert max(Counter(log).values()) == 1
    assert {(p.deal, p.turn, p.card) for p in acknowledged} <= set(log)
    server.start()
    for number, player in enumerate(players):
        async with Player(server.url) as again:
            assert player.token is not None
            assert player.view is not None
            view = (await again.resume(code, player.token)).view
            assert (view.you, view.seq >= player.view.seq) == (number, True)


async def played(server: ServerProcess, code: str) -> list[tuple[int, int, str]]:
    """Deal, turn and card of every play in a room's log."""
    journal = await open_journal(server.store)
    commits = await journal.read(code)
    await journal.close()
    found: list[tuple[int, int, str]] = []
    deal = turn = 0
    for event in (event for commit in commits for event in e.read_events(commit.payload)):
        if isinstance(event, e.Dealt) and event.batch == 1:
            deal, turn = event.deal, 0
        if isinstance(event, e.Played):
            turn += 1
            found.append((deal, turn, event.play.card))
    return found


async def test_nobody_connected_ends_at_once(serve: Serve) -> None:
    server = serve()
    async with asyncio.timeout(5):
        assert await asyncio.to_thread(server.terminate) == 0
    assert [entry["event"] for entry in server.entries][-2:] == ["stopping", "stopped"]


async def test_who_says_nothing_does_not_hold_up_the_end(serve: Serve) -> None:
    server = serve()
    lines = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
    async with Player(server.url) as deaf:
        deaf.socket.transport.pause_reading()
        async with asyncio.timeout(8):
            assert await asyncio.to_thread(server.terminate) == 0
        deaf.socket.transport.abort()
    for _, writer in lines:
        writer.close()


async def test_a_lost_line_is_taken_up_at_once(serve: Serve) -> None:
    server = serve()
    code, players = await table(server)
    anna, bruno = players[:2]
    assert bruno.token is not None
    bruno.socket.transport.abort()
    async with Player(server.url) as again:
        joined = await again.resume(code, bruno.token)
        assert joined.view.hand == (bruno.view.hand if bruno.view else None)
        assert joined.view.seats[1].online
        presence = [False, True]
        while presence:
            frame = await anna.receive()
            for event in frame.events if isinstance(frame, Update) else []:
                if getattr(event, "online", None) == presence[0]:
                    presence.pop(0)
    for player in players:
        player.socket.transport.abort()
        await player.socket.wait_closed()
