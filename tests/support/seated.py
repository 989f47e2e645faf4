"""Players around a table behind a gateway."""

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.views import View
from support.front import Front
from support.player import Player


async def table(served: Front, *, seats: int = 2) -> list[Player]:
    """People around a table, the match begun; each on a connection of its own."""
    players = [Player(served.url, codec=JSON if n % 2 else MSGPACK) for n in range(seats)]
    for number, player in enumerate(players):
        await player.__aenter__()
        if number == 0:
            room = (await player.host("Anna", variant="scopa", players=seats)).room
        else:
            await player.join(room, f"Guest {number}")
    await players[0].do(c.Start())
    for player in players:
        await seen(player, players[0].view.seq if players[0].view else 0)
    return players


def shown(player: Player) -> View:
    """The latest view."""
    assert player.view is not None
    return player.view


async def parted(players: list[Player]) -> None:
    """End every connection, whoever still reads or doesn't."""
    for player in players:
        player.socket.transport.abort()
        await player.socket.wait_closed()


async def seen(player: Player, seq: int) -> View:
    """The view of that number, once it has come."""
    while player.view is None or player.view.seq < seq:
        await player.receive()
    return player.view
