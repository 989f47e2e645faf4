"""The client on a real terminal: a pseudo-terminal, and a program of its own."""

import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from scopa_cli.tokens import SeatStore
from scopa_protocol.commands import Join, Play, Say, Watch
from scopa_protocol.events import Said
from support.fake_server import Peer, fake_server
from support.pty_run import PtyRun
from support.server_frames import CODE, lobby, playing, update

if sys.platform == "win32":
    pytest.skip("a terminal of this kind is needed", allow_module_level=True)

UTF8 = "C.UTF-8"


@pytest_asyncio.fixture
async def run() -> AsyncIterator[PtyRun]:
    started = PtyRun()
    yield started
    await started.close()


def at(endpoint: str) -> str:
    """The invite to the fake server's room."""
    return f"{endpoint.removesuffix('/ws')}/{CODE}"


def said(text: str) -> Said:
    """Bruno says something."""
    return Said(name="Bruno", seat=1, text=text)


async def test_what_is_typed_survives_what_arrives(run: PtyRun, tmp_path: Path) -> None:
    before = run.modes()

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby("Anna", "Bruno"), Join)
        await run.at_prompt("lobby>")
        run.type("say ciuao\x1b[D\x1b[D\x7f")
        await run.at_prompt("lobby> say ciao")
        assert run.screen.column == len("lobby> say ci")
        await peer.send(update(lobby("Anna", "Bruno", seq=2), said("do you hear me?")))
        await run.sees("Bruno: do you hear me?")
        await run.at_prompt("lobby> say ciao")
        assert run.screen.column == len("lobby> say ci")
        run.type("\r")
        assert (await peer.hear(Say)).text == "ciao"
        await run.at_prompt("lobby>")
        run.type("\x1b[A")
        await run.at_prompt("lobby> say ciao")
        run.type("\x15quit\r")
        await peer.send(update(lobby("Anna", "Bruno", seq=2), re=[2]))
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start(
            "join", at(server.endpoint), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path), SCOPA_NAME="A"
        )
        assert await run.ended() == 0
    assert run.modes() == before
    assert run.screen.last == ""
    assert "Your seat is kept." in run.screen.text


async def test_ctrl_c_keeps_the_seat_and_gives_the_terminal_back(
    run: PtyRun, tmp_path: Path
) -> None:
    before = run.modes()

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await run.at_prompt("your turn>")
        assert run.modes() != before
        run.type("half a li\x03")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start("join", at(server.endpoint), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path))
        assert await run.ended() == 130
    assert run.modes() == before
    assert "Come back with: scopa join ws://127.0.0.1:8765/KRTNWXYZ" in run.screen.text
    assert [seat.room for seat in SeatStore(tmp_path / "scopa" / "seats").all()] == [CODE]


async def test_ctrl_d_on_an_empty_line_quits(run: PtyRun, tmp_path: Path) -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await run.at_prompt("your turn>")
        run.type("x\x04\x7f\x04")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start("join", at(server.endpoint), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path))
        assert await run.ended() == 0


async def test_a_long_line_scrolls_and_a_resize_redraws_it(run: PtyRun, tmp_path: Path) -> None:
    run.resize(60)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(you=None, to_play=0), Watch)
        await run.at_prompt("Anna's turn>")
        run.type("0123456789" * 7)
        await run.until(lambda screen: screen.last.endswith("6789"))
        wide = run.screen.last
        run.screen.rows[run.screen.row] = ""
        run.screen.column = 0
        run.resize(40)
        await run.until(lambda screen: screen.last.endswith("6789"))
        assert len(run.screen.last) < 40 <= len(wide)
        run.type("\x01")
        await run.at_prompt("Anna's turn> " + ("0123456789" * 3)[:26])
        run.type("\x03")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start("watch", at(server.endpoint), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path))
        assert await run.ended() == 130


async def test_suspending_gives_the_terminal_back_until_it_goes_on(
    run: PtyRun, tmp_path: Path
) -> None:
    before = run.modes()

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await run.at_prompt("your turn>")
        run.type("1")
        await run.at_prompt("your turn> 1")
        run.type("\x1a")
        await run.stopped()
        assert run.modes() == before
        await peer.send(update(playing(seq=11), said("where are you?")))
        run.signal(signal.SIGCONT)
        await run.sees("where are you?")
        await run.at_prompt("your turn> 1")
        run.type("\x7f7D 7C\r")
        assert (await peer.hear(Play)).take == ["7C"]
        await peer.ws.close(1000)

    async with fake_server(scene) as server:
        await run.start("join", at(server.endpoint), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path))
        await run.ended()
    assert run.modes() == before


async def test_a_c_locale_gets_ascii(run: PtyRun, tmp_path: Path) -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(playing("Anna", "Zoë"), Join)
        await run.at_prompt("your turn>")
        await peer.send(update(playing("Anna", "Zoë", seq=11), said("→ ♦ 漢")))
        await run.sees("Bruno: ->  ?")
        run.type("\x03")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start("join", at(server.endpoint), LANG="C", XDG_STATE_HOME=str(tmp_path))
        assert await run.ended() == 130
    assert run.screen.text.isascii()
    assert "Zoe" in run.screen.text


async def test_no_byte_of_another_player_moves_the_cursor(run: PtyRun, tmp_path: Path) -> None:
    nasty = "\x1b[2J\x1b]0;owned\x07\x9b2J\u202eevil\r\nYour turn.\x08"

    async def scene(peer: Peer) -> None:
        view = lobby("Anna", f"Bruno{nasty}", watchers=[nasty])
        await peer.let_in(view, Join)
        await run.at_prompt("lobby>")
        await peer.send(update(lobby("Anna", nasty, seq=2), Said(name=nasty, seat=1, text=nasty)))
        await run.sees("[2J]0;owned2JevilYour turn.: [2J]0;owned")
        run.type("q\r")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start("join", at(server.endpoint), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path))
        assert await run.ended() == 0


async def test_no_colour_means_no_colour(run: PtyRun, tmp_path: Path) -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await run.at_prompt("your turn>")
        run.type("q\r")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start(
            *("join", at(server.endpoint)), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path), NO_COLOR="1"
        )
        assert await run.ended() == 0
    assert "m" not in run.screen.sequences


async def test_plain_has_no_escape_at_all(run: PtyRun, tmp_path: Path) -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await run.sees("Your turn: type a card's number")
        run.type("q\n")
        await peer.gone()

    async with fake_server(scene) as server:
        await run.start(
            *("join", "--plain", at(server.endpoint)), LC_ALL=UTF8, XDG_STATE_HOME=str(tmp_path)
        )
        assert await run.ended() == 0
    assert not run.screen.sequences
