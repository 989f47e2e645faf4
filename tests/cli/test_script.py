"""`--json`: frames out, commands in, and never a token unless it is asked for."""

import asyncio
import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

from scopa_cli.entry import Entry
from scopa_cli.heard import Timing
from scopa_cli.output import Writer
from scopa_cli.script import Script
from scopa_cli.seating import Seating
from scopa_cli.session import Opening
from scopa_cli.tokens import HeldSeat, SeatStore
from scopa_protocol.commands import Join, Leave, Play, Resume, Say, Watch
from scopa_protocol.events import Said
from support.fake_server import Peer, Scene, fake_server
from support.server_frames import CODE, HELLO, an_error, joined, lobby, playing, update

TOKEN = "t" * 32
JOIN = Join(room=CODE, name="Anna", token=TOKEN)


async def no_pause(_: float) -> None:
    """Wait for nothing but the others."""
    await asyncio.sleep(0)


class Run:
    """One run with `--json`; its standard input is a pipe."""

    def __init__(self, folder: Path, command: Opening = JOIN, *, show_token: bool = False) -> None:
        self.store = SeatStore(folder)
        self.out, self.notes = BytesIO(), BytesIO()
        self._command = command
        self._show_token = show_token
        self._source, self._typing = os.pipe()

    def type(self, *lines: str) -> None:
        """Write lines into the pipe."""
        os.write(self._typing, "".join(f"{line}\n" for line in lines).encode())

    def end(self) -> None:
        """Close the pipe."""
        os.close(self._typing)

    async def at(self, *scenes: Scene) -> int:
        """Run against these scenes to the end."""
        async with fake_server(*scenes) as server:
            held = HeldSeat(server=server.endpoint, room=CODE, seat=None, name="Anna", token=TOKEN)
            seating = None if isinstance(self._command, Watch) else Seating(self.store, held)
            script = Script(
                Entry(endpoint=server.endpoint, command=self._command, seating=seating),
                show_token=self._show_token,
                out=Writer(self.out),
                notes=Writer(self.notes),
                timing=Timing(pause=no_pause),
            )
            async with asyncio.timeout(60):
                return await script.run(self._source)

    @property
    def frames(self) -> list[dict[str, Any]]:
        """What was printed."""
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


async def test_frames_come_out_and_commands_go_in(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.type(
        '{"type":"say","id":7,"text":"ciao"}',
        "",
        '{"type":"play","deal":1,"turn":1,"card":"7D","take":["7C"]}',
        '{"type":"dance","id":9}',
        "nonsense",
    )

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        numbers = [await peer.number(Say), await peer.number(Play)]
        said = Said(name="\x9bBruno\u202e", seat=1, text="\x1b[2J")
        await peer.send(update(playing(turn=2, seq=11), said, re=numbers))
        run.end()
        await peer.gone()

    assert await run.at(scene) == 0
    frames = {frame["type"]: frame for frame in run.frames}
    assert frames["update"]["re"] == [7]
    assert frames["update"]["events"][0]["text"] == "\x1b[2J"
    assert "re" not in frames["joined"]
    bad = [frame.get("re") for frame in run.frames if frame["type"] == "error"]
    assert bad == [9, None]
    assert run.out.getvalue().isascii()
    assert b"\x1b" not in run.out.getvalue()
    assert TOKEN.encode() not in run.out.getvalue() + run.notes.getvalue()


async def test_the_token_is_shown_on_demand_alone(tmp_path: Path) -> None:
    run = Run(tmp_path, show_token=True)
    run.end()

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await peer.gone()

    await run.at(scene)
    assert [frame.get("token") for frame in run.frames] == [None, TOKEN]


async def test_a_token_from_the_server_is_not_printed(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.end()

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(joined(lobby(), await peer.number(Join), token="s" * 32))
        await peer.gone()

    await run.at(scene)
    assert b"s" * 32 not in run.out.getvalue()


async def test_the_line_is_told_of_on_the_other_stream(tmp_path: Path) -> None:
    run = Run(tmp_path)

    async def drops(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        peer.drop()

    async def refuses(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("too_fast", await peer.number(Resume), retry_ms=5))
        await peer.send(an_error("bad_token", await peer.number(Resume)))
        await peer.gone()

    assert await run.at(drops, refuses) == 1
    run.end()
    notes = run.notes.getvalue().decode()
    assert "The connection dropped. Trying again in" in notes
    assert "the server says too_fast Again in 0.0 s." in notes
    assert [frame["type"] for frame in run.frames][-1] == "error"
    assert run.store.all()


async def test_leave_forgets_the_seat(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.type('{"type":"leave","id":1}')

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await peer.send(update(lobby(), re=[await peer.number(Leave)]))
        await peer.gone()

    assert await run.at(scene) == 0
    run.end()
    assert not run.store.all()


async def test_a_watcher_reads_on_after_the_end_of_its_input(tmp_path: Path) -> None:
    run = Run(tmp_path, Watch(room=CODE, name="Ugo"))
    run.end()

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(you=None, to_play=0), Watch)
        await peer.send(update(playing(you=None, to_play=1, seq=11)))
        await peer.ws.close(4002)

    assert await run.at(scene) == 1
    assert [frame["type"] for frame in run.frames] == ["hello", "joined", "update"]
    assert "The server has this room no more" in run.notes.getvalue().decode()
