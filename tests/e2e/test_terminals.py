"""Four people at four terminals: they type, one is killed, then the server, and all go on."""

import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from support.pty_run import PtyRun
from support.screen import Screen
from support.server_process import ServerProcess

NAMES = ("Anna", "Bruno", "Carla", "Dario")


@asynccontextmanager
async def terminal(folder: Path, name: str, *words: str) -> AsyncGenerator[PtyRun]:
    """Somebody's client, on a terminal of its own with a home of its own."""
    home = folder / name
    home.mkdir(exist_ok=True)
    run = PtyRun(100)
    try:
        await run.start(*words, HOME=str(home), XDG_STATE_HOME=str(home), LANG="C.UTF-8")
        yield run
    finally:
        await run.close()


def latest(pattern: str, screen: Screen) -> str:
    """The first group of a pattern's last match on a screen."""
    found: list[str] = re.findall(pattern, screen.text)
    return found[-1]


def plain_card(screen: Screen) -> str:
    """The first card in hand that leaves no choice of what to take."""
    table = screen.text.rpartition("── Deal")[2]
    rows: list[tuple[str, str]] = re.findall(r"\n *(?:Hand)? +\d+ +(\d+[DCSB]) (.*)", table)
    return next(card for card, takes in rows if " or " not in takes)


def on_turn(screen: Screen) -> str | None:
    """Whose turn Anna's prompt says it is."""
    found = re.fullmatch(r"(your|(\w+)'s) turn>.*", screen.last)
    return None if found is None else found[2] or "Anna"


async def play_one(runs: dict[str, PtyRun], after: str | None) -> tuple[str, str]:
    """Whoever plays after `after` types a card; who and which, once all have seen it."""
    await runs["Anna"].until(lambda screen: on_turn(screen) not in {None, after})
    name = on_turn(runs["Anna"].screen)
    assert name is not None
    await runs[name].until(lambda screen: screen.last.startswith("your turn>"))
    card = plain_card(runs[name].screen)
    runs[name].type(f"{card}\r")
    for other, run in runs.items():
        who = "You play" if other == name else f"{name} plays"
        await run.sees(f"{who} {card} ")
    return name, card


async def test_all_go_on_at_the_same_card(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "server")
    server.start()
    async with AsyncExitStack() as stack:
        stack.callback(server.kill)
        runs: dict[str, PtyRun] = {}
        words = ("host", "--variant", "scopone_scientifico", "--server", server.url)
        host = terminal(tmp_path, "Anna", *words, "--name", "Anna")
        runs["Anna"] = await stack.enter_async_context(host)
        await runs["Anna"].sees("lobby>")
        invite = latest(r"(ws://\S+/[A-Z0-9]{8})", runs["Anna"].screen)
        for name in NAMES[1:]:
            joined = terminal(tmp_path, name, "join", invite, "--name", name)
            runs[name] = await stack.enter_async_context(joined)
            await runs[name].sees("You sit on seat")
        await runs["Anna"].sees("Everybody is here")
        runs["Anna"].type("start\r")
        mover: str | None = None
        for _ in range(5):
            mover, _ = await play_one(runs, mover)

        await runs["Carla"].kill()
        again = terminal(tmp_path, "Carla", "join", invite)
        runs["Carla"] = await stack.enter_async_context(again)
        await runs["Carla"].sees("Back on seat")
        mover, _ = await play_one(runs, mover)

        mover, last = await play_one(runs, mover)
        server.kill()
        for run in runs.values():
            await run.sees("The connection dropped.")
        server.start()
        for run in runs.values():
            await run.sees("Back at the table.")
            await run.until(lambda screen: f"played {last}" in screen.text.rpartition("Back at")[2])
        for _ in range(3):
            mover, _ = await play_one(runs, mover)
