"""Recorded deals, step by step: what lay where, and how one moves."""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from scopa_cli.__main__ import main
from scopa_cli.commands.replay import Stepper
from scopa_cli.records import read_data, read_file, write_lines
from scopa_cli.replaying import steps
from scopa_cli.screens.record import step, story
from scopa_cli.stepping import HELP, Place, move
from scopa_protocol.history import HandDeclared, HistoryDeal, ShownCard, SweptOpening
from scopa_protocol.notation import write_deal
from scopa_protocol.views import LeftoverCards
from support.fake_console import FakeConsole
from support.pty_run import PtyRun
from support.records import a_deal, refused
from support.shown import text
from support.wire import HISTORY_DEAL

UTF8 = "C.UTF-8"
DEAL = a_deal("scopone", seed=2)
SHORT = structs.replace(
    a_deal(),
    deals=[[["1D", "7C"], ["2C", "10S"]]],
    table=["5B", "4S"],
    plays=[
        (0, "1D", ["5B", "4S"], True),
        (1, "10S", [], False),
        (0, "7C", [], False),
        (1, "2C", [], False),
    ],
    count=None,
)


def test_every_card_is_somewhere_at_every_step() -> None:
    for shown in (one.view for one in steps(DEAL, [])):
        held = sum(seat.cards for seat in shown.seats)
        captured = sum(side.captured for side in shown.sides)
        assert held + captured + len(shown.table) + shown.stock == 40


@pytest.mark.parametrize("seed", range(4))
def test_what_was_captured_is_what_was_counted(seed: int) -> None:
    deal = a_deal(players=3, seed=seed, ace_sweeps=True, ace_on_empty="takes_itself")
    assert deal.count is not None
    last = steps(deal, [])[-1].view
    assert [side.captured for side in last.sides] == [side.cards for side in deal.count.sides]
    assert not last.table


def test_a_step_shows_the_play_the_table_and_every_hand() -> None:
    shown = steps(SHORT, ["Anna", None])
    assert text(step(shown[1], 1, 4)) == (
        "── Turn 1 of 4 ──\n"
        "Anna plays 1D and takes 4S 5B: scopa!\n"
        "── Deal 3 · dealt by Anna · 34 cards in the stock ──\n"
        "  Anna    score  0 · captured  3 · scope 1 (1D)\n"
        "  seat 1  score  0 · captured  0 · scope 0\n"
        "  Open hand of Anna: 7C\n"
        "  Open hand of seat 1: 2C 10S\n"
        "  Table  empty\n"
        "  Last   Anna played 1D, took 4S 5B: scopa!\n"
        "  seat 1 is to play."
    )


def test_the_matta_keeps_its_value_until_it_is_taken() -> None:
    hand = HandDeclared(batch=1, seat=0, kind="low", cards=["1D", "7C"], matta=3, points=3)
    deal = structs.replace(SHORT, declared=[hand])
    shown = steps(deal, [])
    assert "declares low, 7C as 3" in text(step(shown[0], 0, 4))
    assert "7C=3" in text(step(shown[3], 3, 4))
    taken = structs.replace(deal, plays=[*deal.plays[:3], (1, "2C", ["7C"], False)])
    assert "7C=3" not in text(step(steps(taken, [])[4], 4, 4)).split("Table")[1]


def test_an_opening_that_was_swept_is_told() -> None:
    swept = SweptOpening(side=1, cards=["5B", "4S"], scope=2)
    first = ShownCard(seat=0, card="1D", kept=True)
    deal = structs.replace(SHORT, opening_swept=swept, first_card=first, plays=[])
    shown = text(story(steps(deal, ["Anna", "Bruno"])))
    assert "Anna keeps the first card." in shown
    assert "Bruno sweeps the opening table 4S 5B: 2 scope!" in shown
    assert steps(deal, [])[0].view.sides[1].scope == 2


def test_a_story_has_hands_plays_leftovers_and_count() -> None:
    shown = text(story(steps(DEAL, ["Anna", "Bruno", "Carla", "Dario"])))
    for piece in (
        "── Match 1, deal 3: scopone, 4 players, 2 sides, to 11 ──",
        "Carla deals 9 cards each.",
        "  Anna: 6D 8D 9D 2C 9C 10C 1S 10S 1B",
        "  Table: 5D 7S 8S 10B",
        "\n  1. Dario plays 10D and takes 10B.",
        "\n 19. Bruno plays 7C and takes 1S 6S: scopa!",
        "Bruno & Dario take what is left on the table: 6D 4C 8C.",
        "── The count of deal 3 ──",
    ):
        assert piece in shown
    assert "seat 1 refuses the first card" in text(story(steps(refused(a_deal()), [])))


def test_a_void_deal_is_told_whole() -> None:
    void = structs.replace(DEAL, void=True, plays=[], count=None)
    shown = text(story(steps(void, [])))
    assert "Deal 3 is void, the table was 5D 7S 8S 10B" in shown
    assert "seat 3: " in shown


def test_a_record_that_makes_no_sense_is_shown_all_the_same() -> None:
    odd = structs.replace(
        HISTORY_DEAL,
        deals=[],
        plays=[(7, "1D", ["9B"], True), (-1, "2D", [], False)],
        opening_swept=SweptOpening(side=9, cards=["3D"], scope=1),
    )
    assert text(story(steps(odd, [])))
    counted = HISTORY_DEAL.count
    assert counted is not None
    left = structs.replace(counted, leftovers=LeftoverCards(side=5, cards=["1D"]), sides=[])
    assert text(step(steps(structs.replace(odd, count=left), [])[-1], 2, 2))


@pytest.mark.parametrize(
    ("typed", "place", "comes_to"),
    [
        ("", Place(0, 0), Place(0, 1)),
        ("", Place(0, 4), Place(1, 0)),
        ("", Place(1, 2), "That was the last turn. q quits, b goes back."),
        ("b", Place(0, 3), Place(0, 2)),
        ("b", Place(1, 0), Place(0, 4)),
        ("back", Place(0, 0), "That is the beginning."),
        (" 3 ", Place(0, 0), Place(0, 3)),
        ("5", Place(0, 0), "Its last turn is 4."),
        ("n", Place(0, 3), Place(1, 0)),
        ("p", Place(1, 1), Place(0, 0)),
        ("n", Place(1, 0), "There is no such deal in the file."),
        ("q", Place(0, 0), None),
        ("dance", Place(0, 0), HELP),
    ],
)
def test_moves(typed: str, place: Place, comes_to: Place | str | None) -> None:
    assert move(typed, place, [4, 2]) == comes_to


def files(deals: list[HistoryDeal]) -> list[bytes]:
    """The same deals in every form."""
    lines = write_lines(deals)
    array = f"[{','.join(lines.splitlines())}]\n"
    return [lines.encode(), array.encode(), "".join(map(write_deal, deals)).encode()]


def test_a_file_may_be_notation_or_json() -> None:
    for data in files([DEAL, HISTORY_DEAL]):
        assert read_data(data) == [DEAL, HISTORY_DEAL]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe", "it is no text"),
        (b"[1]", "it is no list of deals"),
        (b'{"deal":1}', "line 1 is no deal"),
        (b"[" * 10_000, "it is no list of deals"),
        (b"deal 1\nx", "line 2: "),
    ],
)
def test_a_file_of_something_else_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_data(data)


async def test_typing_steps_through(tmp_path: Path) -> None:
    console = FakeConsole()
    running = asyncio.create_task(Stepper(console, [DEAL]).run())
    await console.sees("As it was dealt")
    for typed in ("", "19", "b", "99"):
        console.type(typed)
    assert console.asked == [f"deal 3, turn {turn} of 36> " for turn in (0, 1, 19, 18)]
    assert console.shown[-1] == "Its last turn is 36."
    console.type("q")
    assert await running == 0
    assert console.stopped


def test_without_a_terminal_every_step_is_printed(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "deals.txt"
    path.write_text(write_deal(DEAL) + write_deal(SHORT), encoding="utf-8")
    assert read_file(path) == [DEAL, SHORT]
    assert main(["replay", str(path), "--plain"]) == 0
    shown = capfdbinary.readouterr().out.decode()
    assert shown.count("── Turn ") == 40
    assert main(["replay", str(path), "--deal", "9"]) == 1
    assert main(["replay", str(tmp_path / "nothing")]) == 2
    path.write_text("deal x", encoding="utf-8")
    assert main(["replay", str(path)]) == 2
    assert b'line 1: "x" is no number.' in capfdbinary.readouterr().err


async def test_a_person_steps_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    path.write_text(write_deal(DEAL), encoding="utf-8")
    run = PtyRun()
    try:
        before = run.modes()
        await run.start("replay", str(path), LC_ALL=UTF8)
        await run.at_prompt("deal 3, turn 0 of 36>")
        run.type("\r")
        await run.at_prompt("deal 3, turn 1 of 36>")
        assert "seat 3 plays 10D and takes 10B." in run.screen.text
        run.type("36\r")
        await run.sees("The count of deal 3")
        run.type("q\r")
        assert await run.ended() == 0
        assert run.modes() == before
    finally:
        await run.close()
