"""Whole matches over real sockets, on every store; what everybody saw agrees."""

import asyncio
import random
from typing import Any

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import View
from support.player import Player
from support.server_process import Serve

NAMES = ("Anna", "Bruno", "Carla", "Dario")
OWN = {"you", "hand", "options", "options_cut", "declarations", "first_card", "clock"}


async def played(url: str) -> list[Player]:
    """Four play a match to its end, and one watches; all of them."""
    players = [Player(url, codec=MSGPACK if n % 2 else JSON) for n in range(4)]
    watcher = Player(url, codec=MSGPACK)
    for player in (*players, watcher):
        await player.__aenter__()
    code = (await players[0].host(NAMES[0], target=5)).room
    await players[0].do(c.Configure(settings={"watchers": "table", "hints": "memory"}))
    for number in (1, 2, 3):
        await players[number].join(code, NAMES[number], seat=number)
    await watcher.do(c.Watch(room=code, name="Ugo"))
    chance = random.Random(7)
    await players[0].do(c.Start())
    await asyncio.gather(*(player.play_on(chance) for player in players), until_over(watcher))
    for player in (*players, watcher):
        await player.socket.close()
    return [*players, watcher]


async def until_over(watcher: Player) -> None:
    """Watch to the end."""
    while watcher.view is None or watcher.view.phase != "match_over":
        await watcher.receive()


def public(view: View) -> dict[str, Any]:
    """What everybody at the table may see of it, who is connected left out."""
    fields = {name: getattr(view, name) for name in view.__struct_fields__ if name not in OWN}
    fields["seats"] = [(s.name, s.kind, s.cards, s.ready, s.revealed) for s in view.seats]
    return {**fields, "watchers": None}


def agree(people: list[Player]) -> None:
    """Every number was seen as the same table by all who saw it; and none went back."""
    seen: dict[int, dict[str, Any]] = {}
    for person in people:
        views = [f.view for f in person.frames if isinstance(f, Joined | Update)]
        numbers = [view.seq for view in views]
        assert numbers == sorted(numbers)
        for view in views:
            assert public(view) == seen.setdefault(view.seq, public(view))
            assert view.you is not None or not view.hand


async def test_four_play_a_match(store: str, serve: Serve) -> None:
    server = serve(store=store)
    agree(await played(server.url))
    assert not [entry for entry in server.entries if entry["level"] in ("error", "critical")]
    # Of a whole match the log says no more than of an evening.
    assert len(server.entries) < 15
    assert server.terminate() == 0
