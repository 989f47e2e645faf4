"""A Redis Cluster for the tests: three masters, and replicas where a test kills a master."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from scopa_server.journal.scripts import SLOTS, slot_of
from support.drafts import new_room
from support.redis_server import RedisServer

_PATIENCE = 60.0
_UNHURRIED, _QUICK = "60000", "1000"
"""Milliseconds after which a silent node counts as gone: a busy machine's may be silent long."""
MASTERS = 3


class RedisCluster:
    """Its servers: the masters first, then a replica of each if there are any."""

    def __init__(self, program: Path, folder: Path, *, replicas: bool = False) -> None:
        self.servers: list[RedisServer] = []
        self._bounds = [SLOTS * number // MASTERS for number in range(MASTERS + 1)]
        self._moved: set[int] = set()
        for number in range(MASTERS * 2 if replicas else MASTERS):
            place = folder / str(number)
            place.mkdir(parents=True)
            self.servers.append(
                RedisServer(
                    program,
                    place,
                    clustered=True,
                    cluster_node_timeout=_QUICK,
                    cluster_replica_validity_factor="0",
                    repl_diskless_sync_delay="0",
                )
            )

    @property
    def masters(self) -> list[RedisServer]:
        """Those that were masters at the start."""
        return self.servers[:MASTERS]

    @property
    def url(self) -> str:
        """The URL to open a journal with; two servers are enough to find the rest."""
        names = ",".join(f"127.0.0.1:{server.port}" for server in self.masters[:2])
        return f"redis+cluster://{names}"

    def start(self) -> None:
        """Start all and let them find each other."""
        for server in self.servers:
            server.start()
        first = self.servers[0]
        for number, server in enumerate(self.servers):
            server.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            if number < MASTERS:
                low, high = self.slots_of(number)
                server.ask("CLUSTER", "ADDSLOTSRANGE", str(low), str(high - 1))
            server.ask("CLUSTER", "MEET", "127.0.0.1", str(first.port), first.bus)
        _await(lambda: all(self._knows_all(server) for server in self.servers))
        for master, replica in zip(self.masters, self.servers[MASTERS:], strict=False):
            replica.ask("CLUSTER", "REPLICATE", name_of(master))
        for replica in self.servers[MASTERS:]:
            _await(partial(_follows, replica))
        _await(lambda: all(is_well(server) for server in self.servers))
        _set_timeout(self.servers, _UNHURRIED)

    def kill(self, number: int) -> None:
        """Kill the master of that number; only from now on the others are quick to replace one."""
        _set_timeout(self.servers, _QUICK)
        self.masters[number].kill()

    def _knows_all(self, server: RedisServer) -> bool:
        return f"cluster_known_nodes:{len(self.servers)}\r\n".encode() in server.ask(
            "CLUSTER", "INFO"
        )

    def stop(self) -> None:
        """End all of them, without waiting for any to be in order."""
        for server in self.servers:
            server.kill()

    def flush(self) -> None:
        """Forget everything."""
        for server in self.masters:
            server.ask("FLUSHALL")

    def slots_of(self, number: int) -> tuple[int, int]:
        """The slots that the master of that number has at the start: from, and up to."""
        return self._bounds[number], self._bounds[number + 1]

    def number_of(self, slot: int) -> int:
        """The number of the master that has a slot at the start."""
        return bisect_right(self._bounds, slot) - 1

    def room_at(self, number: int) -> str:
        """A new room's code, of a slot the master of that number has had from the start."""
        while True:
            room = new_room()
            slot = slot_of(room)
            if self.number_of(slot) == number and slot not in self._moved:
                return room

    @contextmanager
    def moving(self, slot: int, source: RedisServer, target: RedisServer) -> Iterator[None]:
        """A slot on its way from one master to another: both know, nothing has gone yet."""
        self._moved.add(slot)
        target.ask("CLUSTER", "SETSLOT", str(slot), "IMPORTING", name_of(source))
        source.ask("CLUSTER", "SETSLOT", str(slot), "MIGRATING", name_of(target))
        yield
        for server in (target, source, *self.masters):
            server.ask("CLUSTER", "SETSLOT", str(slot), "NODE", name_of(target))


def move_keys(source: RedisServer, target: RedisServer, *keys: str) -> None:
    """Move keys of a slot that is on its way."""
    words = ("MIGRATE", "127.0.0.1", str(target.port), "", "0", "5000", "KEYS", *keys)
    assert source.ask(*words) == b"+OK\r\n"


def name_of(server: RedisServer) -> str:
    """A node's id."""
    return server.ask("CLUSTER", "MYID").split(b"\r\n")[1].decode()


def is_well(server: RedisServer) -> bool:
    """Whether a node thinks that all slots are served."""
    return b"cluster_state:ok" in server.ask("CLUSTER", "INFO")


def _set_timeout(servers: Sequence[RedisServer], milliseconds: str) -> None:
    for server in servers:
        assert server.ask("CONFIG", "SET", "cluster-node-timeout", milliseconds) == b"+OK\r\n"


def _follows(replica: RedisServer) -> bool:
    return b"master_link_status:up" in replica.ask("INFO", "replication")


def _await(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "the cluster doesn't come about"
        time.sleep(0.05)
