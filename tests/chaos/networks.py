"""Faults of the network, between people and servers and between servers and Redis."""

from typing import Final

from support.fault_proxy import FaultProxy

from .scene import Act, Fault, Scene
from .stage import until
from .stores import UNHURRIED

MARKER: Final = b"EVALSHA"
"""Is in what an append sends, and in nothing else: its script is known to the store."""


def lines(scene: Scene, links: bool) -> list[FaultProxy]:
    """The proxies to Redis, or those to the servers."""
    return scene.stage.links if links else scene.stage.doors


def half_close(links: bool) -> Act:
    """One side of every connection hears that the other has nothing more to say."""

    async def act(scene: Scene) -> None:
        for proxy in lines(scene, links):
            scene.begin()
            proxy.half_close()
            await scene.recover()

    return act


def cut(links: bool) -> Act:
    """Every connection is reset."""

    async def act(scene: Scene) -> None:
        for proxy in lines(scene, links):
            scene.begin()
            proxy.cut()
            await scene.recover()

    return act


def tear(links: bool) -> Act:
    """A connection ends in the middle of a message."""

    async def act(scene: Scene) -> None:
        for proxy in lines(scene, links):
            scene.begin()
            proxy.tear()
            await until(proxy.lost.is_set)
            await scene.recover()

    return act


def delay(links: bool) -> Act:
    """Everything takes a fifth of a second longer, each way."""

    async def act(scene: Scene) -> None:
        for table in scene.tables:
            for person in (*table.people, *table.watchers):
                person.patience = UNHURRIED
        for proxy in lines(scene, links):
            proxy.delay = scene.scale.slow / 10
        scene.begin()
        await scene.recover()
        for proxy in lines(scene, links):
            proxy.heal()

    return act


def black_hole(links: bool) -> Act:
    """Nothing passes, and neither side hears of it; then the way is free again."""

    async def act(scene: Scene) -> None:
        proxy = lines(scene, links)[0]
        scene.begin()
        proxy.black_hole()
        try:
            await scene.recover()
            await scene.lasts(scene.scale.held)
        finally:
            proxy.heal()

    return act


async def swallow_answers(scene: Scene) -> None:
    """An append is stored and its answer lost: the server finds out, and stores it once."""
    for link in scene.stage.links:
        scene.begin()
        link.swallow_answer(MARKER)
        await until(link.lost.is_set)
        await scene.recover()


FAULTS: Final = (
    Fault("people's lines cut", cut(False)),
    Fault("people's lines half closed", half_close(False)),
    Fault("a frame to a person torn", tear(False)),
    Fault("people's lines slow", delay(False)),
    Fault("a server out of people's reach", black_hole(False)),
    Fault("lines to Redis cut", cut(True)),
    Fault("lines to Redis half closed", half_close(True)),
    Fault("an answer of Redis torn", tear(True)),
    Fault("lines to Redis slow", delay(True), again=True),
    Fault("an append's answer swallowed", swallow_answers),
    Fault("Redis out of a server's reach", black_hole(True)),
)
