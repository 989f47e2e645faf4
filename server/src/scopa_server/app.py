"""The whole server, put together. Every object is built here and nowhere else."""

import asyncio
import gc
import signal
import socket
import ssl
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import structlog

from scopa_server import open_files
from scopa_server.config import Config
from scopa_server.gateway.admin import admin
from scopa_server.gateway.connection import Desk
from scopa_server.gateway.neighbours import Neighbours
from scopa_server.gateway.server import Endpoint, Gateway
from scopa_server.journal.interface import Journal, StoreRefused, Unavailable
from scopa_server.journal.opening import open_journal
from scopa_server.live.chance import new_token, shuffles
from scopa_server.live.ledger import Lifetimes
from scopa_server.live.rooms import Rooms
from scopa_server.live.surroundings import Surroundings
from scopa_server.live.time import LoopTime
from scopa_server.logs import logging_to
from scopa_server.loop import fastest
from scopa_server.metrics import Metrics
from scopa_server.stand_in.act import act
from scopa_server.startup import CannotStart, cannot_listen, cannot_reach
from scopa_server.tls import Certificate
from scopa_server.values import AUTO
from scopa_server.welcome import own_address, welcome

log = structlog.stdlib.get_logger()

SWEEP_SECONDS: Final = 600
"""How often at least rooms whose time is over are looked for."""
SWITCH_SECONDS: Final = 0.0005
"""How long a thread waits for its turn: on the one that writes to the store, everybody waits."""
COLLECTED: Final = (10_000, 4, 5)
"""How many new objects are looked through for garbage at once, as most are gone before that; after
how often their elders are, too; and after how often of that all are. To look through everybody's
takes long, but a room that is no longer shown leaves garbage that nothing else finds."""
ADMIN_ABOVE: Final = 1000
"""How far above the players' port the one for health and metrics is, unless it is named."""
LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running server. `why_not`: why it can't take players, or None."""

    port: int
    metrics: Metrics
    why_not: Callable[[], Awaitable[str | None]]


Stay: TypeAlias = Callable[[Served, asyncio.Event], Awaitable[None]]
"""What to do with a running server until the event says stop."""
Meet: TypeAlias = Callable[[Metrics], Neighbours]
"""How to come to know the other workers of this machine."""


def run(
    config: Config,
    stay: Stay | None = None,
    *,
    worker: int | None = None,
    introductions: socket.socket | None = None,
) -> int:
    """Serve until a signal says stop; returns the exit status. Raises CannotStart.

    `worker`: which of several processes this is; `introductions`: where it hears of the others.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    with (
        logging_to(level=config.log_level, form=config.log_format, worker=worker),
        asyncio.Runner(loop_factory=fastest()) as runner,
    ):
        meet: Meet | None = None
        if worker is not None and introductions is not None:
            meet = partial(_neighbours, config, worker, introductions)
        return runner.run(_main(config, stay or partial(_welcome, config), meet))


async def _main(config: Config, stay: Stay, meet: Meet | None) -> int:
    warn(config)
    stop = stopping()
    async with serving(config, meet) as served:
        # What is there by now stays: there is no need to go through it again and again.
        gc.freeze()
        gc.set_threshold(*COLLECTED)
        await stay(served, stop)
        log.info("stopping")
    log.info("stopped")
    return 0


def warn(config: Config) -> None:
    """Log what is wrong with the settings, or better done otherwise."""
    for warning in config.warnings:
        log.warning("setting", reason=warning)


def stopping() -> asyncio.Event:
    """What is set by the signals that say stop."""
    stop = asyncio.Event()
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        # The terminal is gone, unless something else is made of it.
        numbers.append(signal.SIGHUP)
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def _welcome(config: Config, served: Served, stop: asyncio.Event) -> None:
    announce(config, served.port)
    await stop.wait()


def announce(config: Config, port: int) -> None:
    """Say that the server is up, and how to come in."""
    address = _address(config, config.host, port)
    log.info("serving", address=address, store=config.store_name)
    table = _address(config, own_address(config.host), port)
    sys.stdout.write(welcome(address, table))
    sys.stdout.flush()


@asynccontextmanager
async def serving(config: Config, meet: Meet | None = None) -> AsyncGenerator[Served, None]:
    """A running server, with the neighbours that `meet` gives. Raises CannotStart."""
    open_files.allow(config.max_connections)
    async with AsyncExitStack() as stack:
        journal = await _opened(config)
        metrics = Metrics()
        neighbours = None if meet is None else meet(metrics)
        rooms = _rooms(config, journal, metrics, neighbours)
        rooms.begin()
        if neighbours is not None:
            stack.push_async_callback(neighbours.close)
        # A room that waits for its store is let go by the journal's end.
        stack.push_async_callback(rooms.close)
        stack.push_async_callback(journal.close)
        stack.push_async_callback(cancelled, _sweeping(config, journal))
        desk = Desk(
            rooms=rooms, metrics=metrics, time=LoopTime(), bounds=config, neighbours=neighbours
        )
        gateway = Gateway(_endpoint(config), desk)
        why_not = _readiness(gateway, journal)
        await open_admin(stack, config, metrics.page, why_not)
        try:
            port = await stack.enter_async_context(gateway.listen())
        except OSError as fault:
            raise cannot_listen(fault, config.host, config.port) from None
        yield Served(port=port, metrics=metrics, why_not=why_not)


async def cancelled(task: asyncio.Task[Any]) -> None:
    """End a task and wait until it has ended."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _opened(config: Config) -> Journal:
    try:
        journal = await open_journal(config.store)
    except (StoreRefused, ValueError) as fault:
        raise CannotStart(str(fault)) from None
    except Unavailable as trouble:
        raise cannot_reach(config.store_name, trouble) from None
    try:
        await journal.ping()
        for warning in await journal.check():
            log.warning("store", reason=warning)
    except StoreRefused as fault:
        await journal.close()
        raise CannotStart(str(fault)) from None
    except Unavailable as trouble:
        await journal.close()
        raise cannot_reach(config.store_name, trouble) from None
    return journal


def _rooms(
    config: Config, journal: Journal, metrics: Metrics, neighbours: Neighbours | None
) -> Rooms:
    around = Surroundings(
        time=LoopTime(),
        shuffles=shuffles(),
        player=act,
        metrics=metrics,
        bounds=config,
        draw=new_token if neighbours is None else neighbours.token,
    )
    return Rooms(
        journal,
        around,
        lifetimes=Lifetimes(room=config.room_ttl, match=config.match_ttl),
        access_key=config.access_key,
    )


def _neighbours(
    config: Config, number: int, introductions: socket.socket, metrics: Metrics
) -> Neighbours:
    """The other workers, as the supervisor introduces them."""
    neighbours = Neighbours(number, config.workers, LoopTime(), metrics)
    neighbours.listen(introductions)
    return neighbours


def _endpoint(config: Config) -> Endpoint:
    return Endpoint(
        host=config.host,
        port=config.port,
        public_url=config.public_url,
        tls=_tls(config),
        origins=config.origins,
        shared=config.workers > 1,
        proxies=config.trusted_proxies,
    )


def _tls(config: Config) -> ssl.SSLContext | None:
    """How TLS is spoken, if it is. With it SIGHUP means that the certificate is a new one."""
    if config.tls_cert is None or config.tls_key is None:
        return None
    certificate = Certificate(config.tls_cert, config.tls_key)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, certificate.reload)
    return certificate.context


def _readiness(gateway: Gateway, journal: Journal) -> Callable[[], Awaitable[str | None]]:
    """Why the server isn't ready, or None."""

    async def why_not() -> str | None:
        if gateway.stopping:
            return "stopping"
        try:
            await journal.ping()
        except Unavailable:
            return "the store doesn't answer"
        return None

    return why_not


async def open_admin(
    stack: AsyncExitStack,
    config: Config,
    metrics: Callable[[], Awaitable[bytes]],
    why_not: Callable[[], Awaitable[str | None]],
) -> None:
    """Serve health and metrics while the stack lasts. Raises CannotStart."""
    if config.admin_port is None:
        return
    for port in _admin_ports(config):
        try:
            opened = admin(config.admin_host, port, metrics, why_not)
            bound = await stack.enter_async_context(opened)
        except OSError as fault:
            if config.admin_port != AUTO or not port:
                raise cannot_listen(fault, config.admin_host, port, admin=True) from None
        else:
            log.info("admin", host=config.admin_host, port=bound)
            return


def _admin_ports(config: Config) -> tuple[int, ...]:
    """The ports to try for health and metrics, in order; 0: any that is free."""
    if isinstance(config.admin_port, int):
        return (config.admin_port,)
    beside = config.port + ADMIN_ABOVE
    return (beside, 0) if config.port and beside <= LAST_PORT else (0,)


def _sweeping(config: Config, journal: Journal) -> asyncio.Task[None]:
    seconds = min(SWEEP_SECONDS, config.room_ttl, config.match_ttl)
    return asyncio.create_task(_sweep(journal, seconds), name="sweep")


async def _sweep(journal: Journal, seconds: int) -> None:
    """Now and then, let go of rooms whose time to live is over."""
    while True:
        try:
            await journal.sweep()
        except Unavailable:
            log.warning("sweep_failed")
        except Exception:
            log.exception("sweep_fault")
        await asyncio.sleep(seconds)


def _address(config: Config, host: str, port: int) -> str:
    if config.public_url is not None:
        return config.public_url
    scheme = "ws" if config.tls_cert is None else "wss"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
