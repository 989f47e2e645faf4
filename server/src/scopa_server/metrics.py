"""What the server counts. A label's values are few and fixed: never a room, a name, an address."""

import asyncio
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, get_args

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families

from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_protocol.commands import ClientCommand

from .tally import Spread, Tallies, Tally

CONTENT_TYPE: Final = prometheus_client.CONTENT_TYPE_LATEST
"""What `render` and `merge` write."""
OK: Final = "ok"
OTHER: Final = "other"

# 1005 and 1006 are how websockets reports a close without a code and a lost connection.
_CLOSES: Final = frozenset({*map(int, CloseCode), 1005, 1006})
_OUTCOMES: Final = frozenset({OK, *map(str, ErrorCode)})
KINDS: Final[Mapping[type, str]] = {
    command: str(command.__struct_config__.tag) for command in get_args(ClientCommand)
}
"""The type on the wire of each command."""
_COMMANDS: Final = frozenset(KINDS.values())
_APPEND_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_DEPTHS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200)


class Append(StrEnum):
    """How an append to the store ended."""

    STORED = "stored"
    TAKEN = "taken"
    FAILED = "failed"


_ENDED: Final[Mapping[Append, tuple[str]]] = {outcome: (outcome.value,) for outcome in Append}


class Refusal(StrEnum):
    """Why a handshake was refused."""

    FULL = "full"
    ADDRESS_FULL = "address_full"
    SLOW = "slow"
    ORIGIN = "origin"
    PATH = "path"
    SUBPROTOCOL = "subprotocol"
    MALFORMED = "malformed"
    RESTARTING = "restarting"


class Handed(StrEnum):
    """What became of a connection that another worker was to go on with."""

    DONE = "done"
    AWAY = "away"
    SLOW = "slow"
    BUSY = "busy"
    UNFIT = "unfit"
    OFTEN = "often"
    FULL = "full"
    ADDRESS_FULL = "address_full"
    STOPPING = "stopping"


class Limit(StrEnum):
    """Which limit somebody came up against, once connected."""

    FRAMES = "frames"
    CONTROL_FRAMES = "control_frames"
    FRAME_BYTES = "frame_bytes"
    IDLE = "idle"
    UNREAD = "unread"
    TALK = "talk"
    CHANGES = "changes"
    MOVES = "moves"
    ADDRESS_CHANGES = "address_changes"
    ROOM_CHANGES = "room_changes"
    NAME = "name"
    SEAT_CONNECTIONS = "seat_connections"
    WATCHERS = "watchers"
    ROOMS = "rooms"
    ADDRESS_ROOMS = "address_rooms"
    NEW_ROOMS = "new_rooms"
    ADDRESS_FAILURES = "address_failures"
    ROOM_FAILURES = "room_failures"
    PASSCODES = "passcodes"


class Metrics:
    """Counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = _of_the_process()
        self._open = Gauge("scopa_connections_open", "Connections that are open", registry=registry)
        self._connections = Counter("scopa_connections", "Connections accepted", registry=registry)
        self._closes = Counter(
            "scopa_closes", "Connections closed, by close code", ["code"], registry=registry
        )
        self._refusals = Counter(
            "scopa_handshakes_refused", "Handshakes refused", ["reason"], registry=registry
        )
        self._limits = Counter(
            "scopa_limits_met", "Times a limit was met, by which", ["limit"], registry=registry
        )
        self._handovers = Counter(
            "scopa_handovers",
            "Connections for another worker, by `done` or why they were served here",
            ["outcome"],
            registry=registry,
        )
        self._commands = Tallies(
            "scopa_commands",
            "Commands answered, by type and by `ok` or the error's code",
            ["type", "outcome"],
            registry,
        )
        # Whoever hands a frame to the network counts it here: a call each would be felt.
        self.frames_sent = Tally("scopa_frames_sent", "Frames sent to clients", registry)
        self.bytes_sent = Tally("scopa_sent_bytes", "Bytes sent to clients", registry)
        self._rooms = Gauge("scopa_rooms_live", "Rooms in memory", registry=registry)
        self._opened = Counter("scopa_rooms_opened", "Rooms created", registry=registry)
        self._reloads = Counter(
            "scopa_room_reloads", "Rooms read anew since the store knew better", registry=registry
        )
        depth = Spread(
            "scopa_inbox_depth", "Messages waiting in a room when one more came", _DEPTHS, registry
        )
        self.waiting = depth.add
        """A message came to a room's inbox in which so many others waited."""
        self._stand_ins = Counter(
            "scopa_stand_in_plays", "Plays made by bots and stand-ins", registry=registry
        )
        self._commits = Tallies(
            "scopa_commits", "Commits given to the store, by outcome", ["outcome"], registry
        )
        self._append = Spread(
            "scopa_append_seconds",
            "Time until the store had answered an append",
            _APPEND_SECONDS,
            registry,
        )
        for outcome in Append:
            self._commits.counts[outcome.value,] = 0
        for reason in Refusal:
            self._refusals.labels(reason)
        for limit in Limit:
            self._limits.labels(limit)
        for handed in Handed:
            self._handovers.labels(handed)

    def render(self) -> bytes:
        """Everything, in Prometheus's text format."""
        return prometheus_client.generate_latest(self.registry)

    async def page(self) -> bytes:
        """The same, for whom it might take time."""
        return self.render()

    def connected(self) -> None:
        """A connection was accepted."""
        self._connections.inc()
        self._open.inc()

    def disconnected(self, code: int | None) -> None:
        """An accepted connection has ended; None is a connection lost."""
        known = 1006 if code is None else code
        self._closes.labels(str(known) if known in _CLOSES else OTHER).inc()
        self._open.dec()

    def handed_over(self, outcome: Handed) -> None:
        """Another worker was to go on with a connection."""
        self._handovers.labels(outcome).inc()

    def arrived(self) -> None:
        """A connection that another worker had accepted is served here from now on."""
        self._open.inc()

    def moved(self) -> None:
        """An accepted connection is served by another worker from now on."""
        self._open.dec()

    def refused(self, reason: Refusal) -> None:
        """A handshake was refused."""
        self._refusals.labels(reason).inc()

    def limited(self, limit: Limit) -> None:
        """Somebody came up against a limit."""
        self._limits.labels(limit).inc()

    def answered(self, command: str, outcome: str = OK) -> None:
        """A command of that type on the wire was answered; what is unknown counts as other."""
        counts = self._commands.counts
        answer = command, outcome
        if answer not in counts:
            answer = (
                command if command in _COMMANDS else OTHER,
                outcome if outcome in _OUTCOMES else OTHER,
            )
        counts[answer] += 1

    def room_opened(self) -> None:
        """A room was created."""
        self._opened.inc()

    def room_entered(self) -> None:
        """A room came into memory, created or read from the store."""
        self._rooms.inc()

    def room_left(self) -> None:
        """A room left memory."""
        self._rooms.dec()

    def room_reloaded(self) -> None:
        """A room was read anew since its log was behind or beside what memory held."""
        self._reloads.inc()

    def stood_in(self) -> None:
        """A bot or a stand-in played a card."""
        self._stand_ins.inc()

    def appended(self, seconds: float, outcome: Append = Append.STORED) -> None:
        """The store has answered an append, or was given up on."""
        self._append.add(seconds)
        self._commits.counts[_ENDED[outcome]] += 1


def merge(workers: Mapping[int, tuple[bytes | None, int]]) -> bytes:
    """The metrics of several processes as one page, with a label that says whose.

    `workers`: by number the page of each, None if it gave none, and how often it was restarted.
    """
    up = GaugeMetricFamily("scopa_worker_up", "Whether a worker answers", labels=["worker"])
    restarts = CounterMetricFamily(
        "scopa_worker_restarts", "How often a worker was started again", labels=["worker"]
    )
    families: dict[str, Metric] = {up.name: up, restarts.name: restarts}
    for number, (page, restarted) in workers.items():
        up.add_metric([str(number)], page is not None)
        restarts.add_metric([str(number)], restarted)
        for found in text_string_to_metric_families((page or b"").decode()):
            family = families.setdefault(
                found.name, Metric(found.name, found.documentation, found.type)
            )
            for sample in found.samples:
                labels = {**sample.labels, "worker": str(number)}
                family.add_sample(sample.name, labels, sample.value)
    return prometheus_client.generate_latest(_Families(families.values()))


class _Families:
    """Metrics that were collected already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Return them."""
        return self._families


def _of_the_process() -> CollectorRegistry:
    """A registry that tells of the process itself."""
    # A moment of creation for every series doubles what is sent; nothing here needs it.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    tasks = Gauge("scopa_tasks", "Tasks of the server's loop", registry=registry)
    tasks.set_function(_tasks)
    return registry


def _tasks() -> int:
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:  # asked from outside the loop
        return 0
