"""Changes of a table, counted: what tests of how rooms grow have in common."""

import random
from typing import Any, Final

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_server.metrics import Limit
from support.house import Guest, House

PACE_1: Final = c.Configure(settings={"pace_ms": 1})
PACE_2: Final = c.Configure(settings={"pace_ms": 2})
PACE_3: Final = c.Configure(settings={"pace_ms": 3})
LOBBY: Final[dict[str, tuple[c.Command, ...]]] = {
    "configure": (PACE_1, PACE_2),
    "passcode": (c.Configure(passcode="pepe"), c.Configure(passcode="")),
    "sit": (c.Sit(seat=1), c.Sit(seat=0)),
    "arrange": (c.Arrange(names=[None, "Anna"]), c.Arrange(names=["Anna", None])),
}
MATCH: Final[dict[str, tuple[c.Command, ...]]] = {"pause": (c.Pause(), c.Unpause())}


def limited(house: House, limit: Limit) -> float:
    """How often a limit was met."""
    labels = {"limit": limit.value}
    return house.metrics.registry.get_sample_value("scopa_limits_met_total", labels) or 0


def commits(house: House, guest: Guest) -> int:
    """How long the log of a guest's room is."""
    return len(house.journal.logs[guest.code])


async def outcomes(guest: Guest, *commands: c.Command) -> list[str]:
    """What commands come to: the code of a refusal, or ok."""
    found = list[str]()
    for command in commands:
        errors = [frame.code for frame in await guest.do(command) if isinstance(frame, Error)]
        found += errors or ["ok"]
    return found


async def enter(house: House, command: c.Join | c.Resume | c.Watch, address: str) -> Guest:
    """Somebody comes in from somewhere."""
    guest = Guest(house)
    guest.visitor.address = address
    await house.rooms.enter(guest.visitor, command)
    await house.quiet()
    return guest


async def with_bots(house: House, players: int = 2, **settings: Any) -> Guest:
    """A host and bots, the match begun; the host's card is awaited, or the match is at its end."""
    settings = {"pace_ms": 0, **settings}
    host = await house.host(variant="scopa", players=players, target=21, settings=settings)
    for seat in range(1, players):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    return host


def next_move(guest: Guest, chance: random.Random) -> c.Command | None:
    """What a guest does to carry the match on."""
    view = guest.view
    if view.phase == "deal_over":
        return c.Ready(deal=view.deal)
    if view.options is None:
        return None
    card = chance.choice(sorted(view.options))
    take = chance.choice(view.options[card] or [[]])
    return c.Play(deal=view.deal, turn=view.turn, card=card, take=take)


async def play_on(guest: Guest, seed: int = 1) -> list[str]:
    """Play to the end of the match, until a card is refused, or bots wait; the outcomes."""
    chance, found = random.Random(seed), list[str]()
    while guest.view.phase != "match_over" and set(found) <= {"ok"}:
        move = next_move(guest, chance)
        if move is None:
            return found
        found += await outcomes(guest, move)
    return found
