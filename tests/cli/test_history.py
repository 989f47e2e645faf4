"""`scopa history` and `scopa verify` against a server that pages, refuses, and cheats."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from scopa_cli.__main__ import main
from scopa_cli.call import Failed
from scopa_cli.commands import history as command
from scopa_cli.commands.opening import Entrance
from scopa_cli.commands.parser import parse
from scopa_cli.commands.secret import Unclear
from scopa_cli.commitments import CommitmentStore, Witness, subject
from scopa_cli.entry import Entry
from scopa_cli.places import commitment_store, seat_store
from scopa_cli.records import read_data
from scopa_cli.screens.verdicts import verdicts
from scopa_cli.tokens import HeldSeat, SeatStore
from scopa_cli.verifying import room_of, status, verify
from scopa_protocol.commands import History, Resume, Watch
from scopa_protocol.frames import HistoryFrame
from scopa_protocol.history import HistoryDeal
from scopa_protocol.notation import read_deals, write_deal
from scopa_protocol.text import is_unsafe
from support.fake_server import Peer, Scene, fake_server
from support.records import a_deal, commitment, refused
from support.server_frames import CODE, HELLO, an_error, lobby, playing, update
from support.shown import text

DEALS = [a_deal(number=number, seed=number) for number in (1, 2, 3)]
TOKEN = "t" * 32


def held(server: str) -> HeldSeat:
    """A seat of this machine."""
    return HeldSeat(server=server, room=CODE, seat=0, name="Anna", token=TOKEN)


def entry(endpoint: str) -> Entry:
    """The way in with that seat."""
    return Entry(endpoint=endpoint, command=Resume(room=CODE, token=TOKEN), seating=None)


async def pages(peer: Peer) -> None:
    """A server that tells one deal a frame, between other things."""
    await peer.let_in(lobby("Anna", "Bruno"), Resume)
    for place, deal in enumerate(DEALS):
        asked = await peer.hear(History)
        assert asked.from_deal == (None if place == 0 else deal.deal)
        await peer.send(update(lobby("Anna", "Bruno", seq=9)))
        later = DEALS[place + 1].deal if place + 1 < len(DEALS) else None
        await peer.send(HistoryFrame(re=asked.id, deals=[deal], next=later))
    await peer.gone()


async def test_every_page_is_asked_for() -> None:
    async with fake_server(pages) as server:
        told = await command.ask(entry(server.endpoint))
    assert told.deals == DEALS
    assert told.names == ["Anna", "Bruno"]
    assert read_deals(command.notation(told)) == DEALS


async def test_one_deal_is_asked_for_alone() -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Resume)
        asked = await peer.hear(History)
        assert (asked.from_deal, asked.limit) == (2, 1)
        await peer.send(HistoryFrame(re=asked.id, deals=[DEALS[1]], next=3))
        await peer.gone()

    async with fake_server(scene) as server:
        assert (await command.ask(entry(server.endpoint), 2)).deals == [DEALS[1]]


async def test_a_server_that_turns_in_circles_is_left() -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Resume)
        asked = await peer.hear(History)
        await peer.send(HistoryFrame(re=asked.id, deals=[DEALS[0]], next=1))
        await peer.gone()

    async with fake_server(scene) as server:
        assert (await command.ask(entry(server.endpoint))).deals == [DEALS[0]]


async def test_what_is_refused_is_said_in_words() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("too_fast", await peer.number(Resume), retry_ms=1))
        await peer.send(an_error("bad_token", await peer.number(Resume)))
        await peer.gone()

    async def hangs_up(peer: Peer) -> None:
        await peer.bye(1012, retry=True)

    async with fake_server(refuses, hangs_up) as server:
        with pytest.raises(Failed, match="doesn't know this seat any more: --watch"):
            await command.ask(entry(server.endpoint))
        with pytest.raises(Failed):
            await command.ask(entry(server.endpoint))
    with pytest.raises(Failed, match="nothing listens there"):
        await command.ask(entry(server.endpoint))


def test_the_seat_held_asks_or_a_watcher(tmp_path: Path) -> None:
    def asked(*words: str) -> Entry:
        options = parse(words)
        return Entrance(store, tmp_path, {"SCOPA_NAME": ""}).errand(words[1], options)

    store = SeatStore(tmp_path / "seats")
    with pytest.raises(Unclear, match="--watch"):
        asked("history", CODE)
    with pytest.raises(Unclear, match="no invite"):
        asked("history", "nonsense")
    store.keep(held("wss://h.example/ws"))
    found = asked("history", CODE)
    assert (found.endpoint, found.command) == (
        "wss://h.example/ws",
        Resume(room=CODE, token=TOKEN),
    )
    watching = asked("verify", CODE, "--watch", "--name", "Ugo", "--passcode=x").command
    assert isinstance(watching, Watch)


def run_main(*words: str) -> int:
    """The program, with a loop of its own."""
    return main(list(words))


async def served(scene: Scene, name: str, *words: str) -> int:
    """Run a command against this scene, with a seat on its server."""
    async with fake_server(scene) as server:
        seat_store().keep(held(server.endpoint))
        invite = f"{server.endpoint.removesuffix('/ws')}/{CODE}"
        return await asyncio.to_thread(run_main, name, invite, *words)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("form", ["", "--json", "--text"])
async def test_it_is_printed_in_every_form(
    form: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert await served(pages, "history", *form.split()) == 0
    out = capfdbinary.readouterr().out
    if form:
        assert read_data(out) == DEALS
    else:
        assert out.decode().count("── The count of deal") == 3
    if form == "--json":
        assert [json.loads(line)["deal"] for line in out.splitlines()] == [1, 2, 3]


async def test_a_room_s_name_writes_no_line_and_no_escape_code(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(room="K\x1b[2J\x9b2J\ndeal 7\u2028deal 8"), Resume)
        await peer.send(HistoryFrame(re=await peer.number(History), deals=DEALS, next=None))
        await peer.gone()

    assert await served(scene, "history", "--text") == 0
    out = capfdbinary.readouterr().out
    assert read_data(out) == DEALS
    assert not any(is_unsafe(char) for char in out.decode().replace("\n", ""))


async def test_no_deal_is_told_as_such(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Resume)
        await peer.send(HistoryFrame(re=await peer.number(History), deals=[], next=None))
        await peer.gone()

    assert await served(scene, "history") == 1
    assert b"No deal is finished yet." in capfdbinary.readouterr().err
    assert await served(scene, "verify") == 2
    assert b"nothing to verify" in capfdbinary.readouterr().out


SEEN = {f"1/{deal.deal}": [commitment(deal)] for deal in DEALS}


def test_a_deal_is_verified_by_what_was_seen() -> None:
    found = [verify(deal, SEEN) for deal in DEALS]
    assert {verdict.outcome for verdict in found} == {"verified"}
    assert status(found) == 0
    shown = text(verdicts(found))
    assert "fixed before the deal and not changed" in shown
    assert "doesn't prove that the order was random, nor that nobody looked" in shown


@pytest.mark.parametrize(
    ("deal", "seen", "words"),
    [
        (DEALS[0], {"1/1": ["00" * 32]}, "don't give the commitment that was shown"),
        (DEALS[0], {"1/1": [commitment(DEALS[0]), "00" * 32]}, "was changed after"),
        (refused(DEALS[0]), SEEN, ""),
        (structs.replace(DEALS[0], table=[]), SEEN, "the opening table isn't"),
        (structs.replace(DEALS[0], proof=structs.replace(DEALS[0].proof, salt="x")), SEEN, "salt"),
        (
            structs.replace(DEALS[0], proof=structs.replace(DEALS[0].proof, salt="00" * 32)),
            SEEN,
            "its count tells another proof; its salt and deck",
        ),
    ],
)
def test_a_mismatch_names_the_deal(
    deal: HistoryDeal, seen: dict[str, list[str]], words: str
) -> None:
    found = verify(deal, seen)
    if not words:
        assert found.outcome == "verified"
        return
    assert found.outcome == "mismatch"
    assert words in found.why
    others = [verify(DEALS[1], SEEN)]
    assert status([found, *others]) == 1
    assert "Not what was committed to: deal 1." in text(verdicts([found, *others]))


@pytest.mark.parametrize(
    ("deal", "seen", "innocent"),
    [
        (DEALS[0], {"1/1": ["00" * 32]}, True),
        (DEALS[0], {"1/1": ["00" * 32, commitment(DEALS[0])]}, True),
        (structs.replace(DEALS[0], table=[]), SEEN, False),
        (DEALS[0], SEEN, False),
        (DEALS[0], {}, False),
    ],
)
def test_another_commitment_may_come_of_a_backup(
    deal: HistoryDeal, seen: dict[str, list[str]], *, innocent: bool
) -> None:
    shown = text(verdicts([verify(deal, seen)]))
    assert ("the host put the server back to a backup" in shown) is innocent


def test_without_a_commitment_nothing_is_claimed() -> None:
    found = [verify(DEALS[0], {}), verify(DEALS[1], SEEN)]
    assert [verdict.outcome for verdict in found] == ["unseen", "verified"]
    assert status(found) == 2
    assert status([]) == 2
    assert "Without it nobody can tell" in text(verdicts(found))
    assert "Verified means" not in text(verdicts(found[:1]))


def test_a_file_is_of_the_room_that_committed_to_it() -> None:
    other = {"1/1": ["00" * 32]}
    assert room_of(DEALS, [("A", other), ("B", SEEN)]) == SEEN
    assert room_of(DEALS, [("A", other)]) is None
    assert room_of(DEALS, [("A", SEEN), ("B", SEEN)]) is None


def test_a_view_says_which_deal_it_commits_to() -> None:
    assert subject(playing(match=2, deal=7)) == "2/7"
    assert subject(playing(match=2, deal=7, phase="deal_over")) == "2/8"
    assert subject(playing(phase="match_over")) is None
    assert subject(lobby()) is None


def test_commitments_are_kept_privately_and_in_order(tmp_path: Path) -> None:
    store = CommitmentStore(tmp_path / "commitments")
    witness = Witness(store, "ws://h/ws")
    witness.see(lobby())
    for value in ("a", "a", "b", "a"):
        witness.see(playing(deal=4, commitment=value))
    Witness(store, "ws://h/ws").see(playing(deal=4, phase="deal_over", commitment="c"))
    assert store.of_room("ws://h/ws", CODE) == {"1/4": ["a", "b"], "1/5": ["c"]}
    assert store.of_room("ws://other/ws", CODE) == {}
    [path] = tmp_path.glob("commitments/*/*.json")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.write_bytes(b"nonsense")
    assert store.rooms() == [(CODE, {})]
    witness.see(playing(room="../../etc", commitment="x"))
    assert len(list(tmp_path.rglob("*.json"))) == 1


def test_a_folder_that_cannot_be_written_is_no_matter(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    Witness(CommitmentStore(blocked), "ws://h/ws").see(playing(commitment="a"))


def watched(server: str, **seen: Any) -> None:
    """Have seen these commitments in a room of that server."""
    for deal in DEALS:
        where = f"1/{deal.deal}"
        commitment_store().add(server, CODE, where, seen.get(f"deal{deal.deal}", commitment(deal)))


async def test_a_room_is_verified_from_its_history(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    async with fake_server(pages) as server:
        seat_store().keep(held(server.endpoint))
        watched(server.endpoint)
        assert await asyncio.to_thread(run_main, "verify", CODE) == 0
    assert capfdbinary.readouterr().out.count(b": verified: ") == 3


def test_a_file_is_verified(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "deals.txt"
    path.write_text("".join(map(write_deal, DEALS)), encoding="utf-8")
    assert main(["verify", str(path)]) == 2
    assert b"no commitment of it was seen on this machine" in capfdbinary.readouterr().out
    watched("ws://h/ws", deal2="00" * 32)
    assert main(["verify", str(path)]) == 1
    assert b"Not what was committed to: deal 2." in capfdbinary.readouterr().out
    assert main(["verify", str(path), "--deal", "1", "--room", CODE]) == 0
    assert main(["verify", str(path), "--deal", "1", "--room", f"ws://h/{CODE}"]) == 0
    assert main(["verify", str(path), "--deal", "1", "--room", f"ws://other/{CODE}"]) == 2
    watched("ws://other/ws")
    assert main(["verify", str(path), "--room", CODE]) == 2
    assert b"give the whole invite" in capfdbinary.readouterr().err
    assert main(["verify", str(path), "--room", "nonsense"]) == 2
    assert main(["verify", str(tmp_path / "nothing")]) == 2
    path.write_text("deal x", encoding="utf-8")
    assert main(["verify", str(path)]) == 2
