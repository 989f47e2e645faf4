"""A table at the compose file's servers, the faults it is played through, and its log."""

import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from signal import SIGKILL
from typing import NamedTuple, TypeAlias

from rehearsal.checks import ensure, healthy
from rehearsal.compose import SERVERS, Compose
from rehearsal.machine import Failed, is_root, say
from rehearsal.match import WON, Person, person

RULES = ["--variant", "scopa", "--players", "3", "--bots", "1", "--rule", "target=21"]
PACE = ["--setting", "pace_ms=250", "next_deal_seconds=0"]
AUTO = ["--autoplay", "--once"]
BETWEEN = 12
"""Cards that are played between two faults."""
LOG = """
import asyncio, json, sys
from pathlib import Path
from scopa_server.journal.opening import open_journal
from scopa_server.room.events import read_events

async def main():
    journal = await open_journal(Path("/run/secrets/store").read_text().strip())
    rows, before = [], ""
    for commit in await journal.read(sys.argv[1]):
        assert commit.previous == before, commit.number
        before = commit.id
        kinds = [e.__struct_config__.tag for e in read_events(commit.payload)]
        rows.append([commit.number, commit.at / 1000, kinds])
    await journal.close()
    print(json.dumps(rows))

asyncio.run(main())
"""


Rows: TypeAlias = list[tuple[int, float, list[str]]]
"""Of each commit its number, when it was stored (seconds), and the kinds of its events."""

Wanted: TypeAlias = tuple[str, Callable[[], object]]
"""What is to happen, and how it is done."""


class Fault(NamedTuple):
    """Something that happened while they played, and when."""

    what: str
    begun: float
    done: float


def killed(compose: Compose, *services: str) -> None:
    """End the first process of each container as a crash would; Docker starts it again."""
    containers = [compose.container(service) for service in services]
    machine = compose.machine
    if not is_root():
        machine.run("docker", "kill", *containers)
        machine.run("docker", "start", *containers)
        return
    for container in containers:
        pid = machine.run("docker", "inspect", "--format", "{{.State.Pid}}", container)
        os.kill(int(pid), SIGKILL)


def replaced(compose: Compose) -> None:
    """Replace one server after the other, as an upgrade does."""
    for service in SERVERS:
        compose.up("--no-deps", "--force-recreate", service)
        compose.machine.becomes(f"{service} is healthy", partial(healthy, compose, service))


def faults(compose: Compose) -> list[Wanted]:
    """What is done while they play; the servers are on their own once each."""
    one, other = SERVERS
    return [
        ("Redis is killed", lambda: killed(compose, "redis")),
        ("one server is killed", lambda: killed(compose, one)),
        ("the other server is killed", lambda: killed(compose, other)),
        ("both servers are killed", lambda: killed(compose, *SERVERS)),
        ("Redis and both servers are killed", lambda: killed(compose, "redis", *SERVERS)),
        ("Caddy is killed", lambda: killed(compose, "proxy")),
        ("one server is stopped", lambda: compose("stop", one)),
        ("that one is started again", lambda: compose("start", one)),
        ("the other server is stopped", lambda: compose("stop", other)),
        ("that one is started, too", lambda: compose("start", other)),
        ("both are replaced in turn", lambda: replaced(compose)),
    ]


def play(compose: Compose) -> str:
    """Whole matches, as many as it takes to have every fault in one; an invite. Raises Failed."""
    left = faults(compose)
    while True:
        invite, happened = _match(compose, left)
        _tell(compose, invite, happened)
        if not left:
            return invite


def _match(compose: Compose, left: list[Wanted]) -> tuple[str, list[Fault]]:
    """A match with the next faults in it; the invite, and what happened. Raises Failed."""
    happened: list[Fault] = []
    hosting = ["host", *RULES, *PACE, *AUTO, "--server", compose.url]
    with _client(compose, "Anna", *hosting) as anna:
        invite = anna.tells(rf"^({compose.url}/[A-Z0-9]+)$")
        with _client(compose, "Bruno", "join", invite, *AUTO) as bruno:
            while left and anna.sees(BETWEEN):
                what, do = left[0]
                begun = time.time()
                do()
                fault = Fault(what, begun, time.time())
                # If the match has ended meanwhile, this is for the next one.
                if anna.sees(BETWEEN):
                    happened.append(fault)
                    left.pop(0)
            for somebody in (anna, bruno):
                somebody.ends()
            anna.tells(f"( {WON})")
    return invite, happened


def _client(compose: Compose, name: str, *words: str) -> AbstractContextManager[Person]:
    environ = compose.machine.environ | {"SSL_CERT_FILE": str(compose.authority)}
    return person([*words, "--name", name], compose.machine.folder / name, environ)


def _rows(compose: Compose, code: str) -> Rows:
    """A room's log, read by a server that runs: one may just have been killed. Raises Failed."""
    read: list[Rows] = []

    def reads() -> bool:
        for service in SERVERS:
            words = ("exec", "-T", service, "python", "-c", LOG, code)
            status, out, errors = compose.machine.attempt(*compose.words, *words)
            ensure("Traceback" not in errors, f"the room's log is sound: {errors}")
            if not status:
                read.append(json.loads(out))
                return True
        return False

    compose.machine.becomes("a server reads the room's log", reads)
    return read[0]


def _tell(compose: Compose, invite: str, happened: list[Fault]) -> None:
    rows = _rows(compose, invite.rpartition("/")[2])
    if [number for number, _, _ in rows] != list(range(1, len(rows) + 1)):
        raise Failed("the room's log has gaps")
    plays = [at for _, at, kinds in rows for kind in kinds if kind == "played"]
    say(f"A whole match: {len(plays)} cards in {plays[-1] - plays[0]:.0f} s; {len(rows)} commits.")
    if not happened:
        return
    say("The next card accepted after a container died, and the longest pause between two cards:")
    for fault in happened:
        resumed = next(at for at in plays if at > fault.done)
        # Play goes on while a server is stopped or replaced: only the pause tells.
        killing = fault.what.endswith("killed")
        shown = f"{resumed - fault.done:.2f} s" if killing else ""
        near = [at for at in plays if fault.begun - 2 < at <= resumed]
        pause = max(b - a for a, b in pairwise(near))
        say(f"  {fault.what:36} {shown:>8} {pause:6.2f} s")


def still_there(compose: Compose, invite: str) -> None:
    """Anna comes back to her seat and sees how the match ended. Raises Failed."""
    with _client(compose, "Anna", "join", invite) as anna:
        anna.tells("(Match 1.*)")
