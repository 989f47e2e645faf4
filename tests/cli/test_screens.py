"""What views look like, line by line."""

import sys

import pytest
from msgspec import convert, structs

from scopa_cli.lines import Line, words
from scopa_cli.qr import half_blocks, qr
from scopa_cli.screens.catalogue import rooms
from scopa_cli.screens.count import count, piles, sheet
from scopa_cli.screens.faces import Faces
from scopa_cli.screens.lobby import how_to_fill, lobby
from scopa_cli.screens.narration import tell
from scopa_cli.screens.people import side_name
from scopa_cli.screens.prompt import prompt, rematch
from scopa_cli.screens.table import captures, table
from scopa_cli.tokens import HeldSeat
from scopa_protocol import events
from scopa_protocol.presets import PRESETS
from scopa_protocol.rules import Deck, Rules
from scopa_protocol.settings import Settings
from scopa_protocol.views import (
    Clock,
    Declaration,
    LeftoverCards,
    MatchResult,
    Matta,
    Proposal,
    RecentPlay,
    View,
)
from support import server_frames as sent


def text(lines: list[Line]) -> str:
    """Lines as they are read."""
    return "\n".join(words(line).rstrip() for line in lines)


def in_pairs(view: View) -> View:
    """Four people as two sides."""
    seats = [structs.replace(seat, side=seat.seat % 2) for seat in view.seats]
    sides = [sent.a_side(0, 3), sent.a_side(1, 2)]
    rules = structs.replace(view.rules, sides=2)
    return structs.replace(view, seats=seats, sides=sides, rules=rules)


FIVE = RecentPlay(seat=1, card="5D", take=["3S", "2C"], scopa=True, to_pile=True, auto=False)


def test_the_table_says_everything_on_ones_turn() -> None:
    view = sent.playing(sides=[sent.a_side(0, 7, 12, "5D"), sent.a_side(1, 5, 10)], recent=[FIVE])
    assert text(table(view)) == (
        "── Deal 1 · dealt by Bruno · 30 cards in the stock ──\n"
        "  You    score  7 · captured 12 · scope 1 (5D)\n"
        "  Bruno  score  5 · captured 10 · scope 0\n"
        "  Table  3C  4S  7C  10B\n"
        "  Last   Bruno played 5D, took 2C 3S: scopa!\n"
        "  Hand    1  7D   7 di denari         takes 7C or 3C 4S\n"
        "          2  1S   asso di spade       no capture\n"
        "          3  10S  re di spade         takes 10B\n"
        "  Your turn."
    )


def test_the_hand_is_a_row_while_others_play() -> None:
    shown = text(table(sent.playing(to_play=1, options=None, table=[], stock=0)))
    assert "  Hand   7D  1S  10S\n  Bruno is to play." in shown
    assert "  Table  empty" in shown
    assert "the stock is empty" in shown


def test_the_table_shows_what_is_special() -> None:
    view = sent.playing(
        options=None,
        clock=Clock(kind="turn", left_ms=24_000),
        paused_by=1,
        matta=Matta(value=9, seat=1),
        declarations=[Declaration(kind="low", matta=1, points=3)],
        gone=["7S", "1D"],
    )
    revealed = structs.replace(view.seats[1], revealed=["2D", "1C"])
    shown = text(table(structs.replace(view, seats=[view.seats[0], revealed])))
    for piece in (
        "Open hand of Bruno: 2D 1C",
        "7C=9",
        "Paused by Bruno",
        "declare low, 7C as 1 (3 points). Type: declare 1",
        "24 seconds left",
        "Gone   1D 7S",
    ):
        assert piece in shown


@pytest.mark.parametrize(
    ("deck", "short", "name"),
    [
        ("italian", "8D", "fante di denari"),
        ("french", "8D♦J", "jack of diamonds"),
        ("french_pips", "8D♦", "8 of diamonds"),
        ("tunisian", "8D♦Q", "queen of diamonds"),
    ],
)
def test_faces_follow_the_deck(deck: Deck, short: str, name: str) -> None:
    assert Faces(deck).short("8D").text == short
    assert Faces(deck).name("8D") == name
    assert Faces(deck).short("7D").text.startswith("7D")


def test_captures_are_numbered() -> None:
    shown = text(captures(sent.playing(options_cut=True), "7D", [["7C"], ["4S", "3C"], []]))
    assert "   1  take 7C\n   2  take 3C 4S\n   3  lay it on the table" in shown
    assert "There are more" in shown


def test_the_count_has_a_column_for_each_side() -> None:
    counted = sent.a_count(leftovers=LeftoverCards(side=1, cards=["2B"]))
    assert text(count(sent.playing(count=counted))) == (
        "── The count of deal 1 ──\n"
        "                     You      Bruno\n"
        "cards            22   +1    18\n"
        "coins             6   +1     4\n"
        "settebello            +1\n"
        "primiera         78         84   +1\n"
        "scope             1   +1     0\n"
        "this deal             +4         +1\n"
        "match                  7          5\n"
        "Left on the table: 2B, to Bruno."
    )
    assert text(piles(sent.playing(count=counted))) == "  You: 7D 3C 4S\n  Bruno: 1S 10B"


def test_items_of_other_variants_are_counted_too() -> None:
    first, second = sent.a_count().sides
    points = {"napola": 4, "re_bello": 1, "of_tomorrow": 2}
    sides = [structs.replace(first, points=points, primiera=None), second]
    shown = text(count(sent.playing(count=sent.a_count(sides=sides))))
    assert "napola                +4" in shown
    assert "re bello              +1" in shown
    assert "of tomorrow           +2" in shown
    assert "No deal" in text(count(sent.playing()))


def test_a_room_without_a_match_has_no_sheet_yet() -> None:
    assert text(sheet(sent.lobby())) == "No match has begun yet."


def test_the_sheet_has_every_deal_and_the_result() -> None:
    view = sent.playing(
        phase="match_over",
        match=2,
        deals=[[2, 1], [4, 1]],
        winner=0,
        sides=[sent.a_side(0, 12), sent.a_side(1, 2)],
        matches=[
            MatchResult(winner=None, totals=[3, 5], abandoned=True),
            MatchResult(winner=0, totals=[12, 2], abandoned=False),
        ],
    )
    shown = text(sheet(view))
    assert "deal 1                +2         +1\ndeal 2                +4         +1" in shown
    assert "You won the match, 12 to 2." in shown
    assert "Match 1: 3 - 5, abandoned." in shown
    assert "abandoned" in text(sheet(structs.replace(view, winner=None)))


def test_long_names_do_not_break_the_columns() -> None:
    view = in_pairs(sent.playing("Anna", "W" * 24, "Carla", "漢" * 24, count=sent.a_count()))
    assert side_name(view, 0) == "You & Carla"
    heads, first = text(count(view)).splitlines()[1:3]
    assert "…" in heads
    assert len(first) > 0


def test_somebody_called_you_is_told_from_oneself() -> None:
    view = sent.playing("Anna", "YOU", recent=[FIVE])
    assert side_name(view, 0) == "You"
    assert "YOU (seat 1) played 5D" in text(table(view))


def test_six_sides_fit_on_an_ordinary_terminal() -> None:
    first, second = sent.a_count().sides
    counted = sent.a_count(sides=[first, second, first, second, first, second], totals=[0] * 6)
    names = [f"{letter * 20}" for letter in "ABCDEF"]
    view = sent.playing(*names, count=counted, deals=[[1, 2, 3, 4, 5, 6]])
    assert max(len(row) for row in text([*count(view), *sheet(view)]).splitlines()) <= 79


def test_the_lobby_says_who_sits_where_and_what_is_played() -> None:
    view = in_pairs(
        sent.lobby(
            "Anna",
            "Bruno",
            "Carla",
            None,
            rules=Rules(variant="scopone", players=4, hand=9, grande=True),
            settings=Settings(turn_seconds=30),
            passcode=True,
            watchers=["Ugo"],
        )
    )
    away = structs.replace(view.seats[1], online=False, stand_in=True)
    view = structs.replace(view, seats=[view.seats[0], away, *view.seats[2:]])
    assert text(lobby(view)) == (
        "── Room KRTNWXYZ: scopone, 4 players, 2 sides, to 11 ──\n"
        "  seat 0  Anna (you, host)\n"
        "  seat 1  Bruno (not connected, played by the server)\n"
        "  seat 2  Carla (your partner)\n"
        "  seat 3  empty\n"
        "  watching: Ugo\n"
        "  rules: grande=true\n"
        "  settings: turn_seconds=30\n"
        "  a passcode is needed to join"
    )
    assert "bot 3" in text(how_to_fill(view))


def test_a_lobby_names_the_rules_that_are_the_room_s_own() -> None:
    usual = convert({"variant": "cirulla", **PRESETS["cirulla"].overrides}, Rules)
    own = structs.replace(usual, target=31, grande=False)
    assert "rules:" not in text(lobby(sent.lobby(rules=usual)))
    assert "  rules: grande=false" in text(lobby(sent.lobby(rules=own))).splitlines()


def test_a_bot_s_play_is_no_news_of_the_server() -> None:
    played = events.Played(seat=1, card="1S", take=[], scopa=False, to_pile=False, auto=True)
    view = sent.playing()
    bot = structs.replace(view.seats[1], kind="bot")
    shown = tell(played, structs.replace(view, seats=[view.seats[0], bot]))
    assert shown is not None
    assert words(shown) == "Bruno plays 1S to the table."


def test_a_full_lobby_says_who_starts() -> None:
    assert "Type start" in text(how_to_fill(sent.lobby("Anna", "Bruno")))
    assert "Waiting for Anna" in text(how_to_fill(sent.lobby("Anna", "Bruno", you=1)))
    assert how_to_fill(sent.lobby("Anna", "Bruno", you=None)) == []
    assert text(how_to_fill(sent.lobby("Anna", None, you=0, host=1))) == "Waiting for players."


def test_prompts_say_what_is_asked() -> None:
    over = sent.playing(phase="deal_over", to_play=None)
    ready = structs.replace(over, seats=[structs.replace(over.seats[0], ready=True), over.seats[1]])
    assert prompt(sent.playing())[0] == "your turn> "
    assert prompt(sent.playing(to_play=1))[0] == "Bruno's turn> "
    assert prompt(sent.playing(first_card="5B"))[1].endswith("keep or refuse.")
    assert prompt(over) == (
        "Enter when ready> ",
        "Press Enter, or type ready, for the next deal.",
    )
    assert prompt(ready) == ("waiting for Bruno> ", "")
    assert prompt(sent.playing(paused_by=0))[0] == "paused> "
    assert "Type start" in rematch(over)
    assert "Anna can start" in rematch(structs.replace(over, you=1))
    assert rematch(structs.replace(over, you=None)) == ""


EVENTS = [
    (events.SeatTaken(seat=1, name="Bruno", kind="person"), "Bruno takes seat 1."),
    (events.SeatTaken(seat=1, name="Robot", kind="bot"), "Robot (bot) takes seat 1 from"),
    (events.SeatLeft(seat=1, name="Ugo"), "Ugo is no longer on seat 1."),
    (events.Arranged(), "New seats: 0 Anna, 1 Bruno."),
    (events.Presence(seat=1, online=False), "Bruno is not connected any more."),
    (events.Presence(seat=0, online=True), "You are connected."),
    (events.Away(seat=1), "Bruno has been away for a while."),
    (events.Back(seat=1), "Bruno plays again."),
    (events.WatcherCame(name="Ugo"), "Ugo watches."),
    (events.WatcherLeft(name="Ugo"), "Ugo stopped watching."),
    (events.HostChanged(seat=0), "You are the host now."),
    (events.Configured(), "You changed the rules or settings."),
    (events.MatchStarted(match=2), "Match 2 begins."),
    (
        events.DealerDrawn(draws=[(0, "7D"), (1, "2C")], dealer=1),
        "Drawn for the deal: You 7D, Bruno 2C. Bruno deals first.",
    ),
    (events.Dealt(deal=1, batch=1, dealer=0, cards=[3, 3]), "Deal 1: You deal 3 cards each."),
    (events.Dealt(deal=1, batch=2, dealer=0, cards=[3, 3]), "3 more cards each."),
    (
        events.OpeningSwept(side=1, cards=["7D", "8C"], scope=1),
        "Bruno sweeps the opening table 7D 8C: scopa!",
    ),
    (
        events.FirstCardOffered(deal=1, dealer=1, seat=0),
        "The first card is offered to you.",
    ),
    (events.FirstCardKept(seat=1), "Bruno keeps the first card."),
    (
        events.FirstCardLaid(seat=0, card="5B"),
        "You refuse the first card, 5B: it lies on the table.",
    ),
    (
        events.Declared(seat=1, kind="low", cards=["1D", "7C", "2S"], matta=3, points=3),
        "Bruno declares low, 7C as 3: 1D 7C 2S, 3 points.",
    ),
    (
        events.Played(seat=0, card="7D", take=["4S", "3C"], scopa=True, to_pile=True, auto=False),
        "You play 7D and takes 3C 4S: scopa!",
    ),
    (
        events.Played(seat=1, card="1S", take=[], scopa=False, to_pile=False, auto=True),
        "Bruno plays 1S to the table. (played by the server)",
    ),
    (
        events.Played(seat=1, card="1S", take=[], scopa=False, to_pile=True, auto=False),
        "Bruno plays 1S, which takes itself.",
    ),
    (events.Leftovers(side=0, cards=["2B"]), "You take what is left on the table: 2B."),
    (events.MatchEnded(), "You ended the match."),
    (events.ProposalDropped(), "The proposal came to nothing."),
    (events.Rescored(rules=Rules(), totals=[3, 4]), "The match was counted again: 3 - 4."),
    (events.Paused(seat=1), "Bruno pauses the game. unpause: go on."),
    (events.Unpaused(seat=1), "The game goes on, says Bruno."),
    (events.Said(name="Bruno", seat=1, text="ciao"), "Bruno: ciao"),
    (events.StoodIn(seat=1), "The server plays for Bruno for now."),
    (
        events.StoodIn(seat=0),
        "The server plays for you for now. Type any card to play yourself again.",
    ),
]


@pytest.mark.parametrize(("event", "sentence"), EVENTS, ids=lambda value: type(value).__name__)
def test_events_are_told_in_words(event: events.Event, sentence: str) -> None:
    shown = tell(event, sent.playing())
    assert shown is not None
    assert words(shown).startswith(sentence.replace("and takes", "and take"))


@pytest.mark.parametrize("you", [1, None])
def test_others_are_told_that_the_host_did_it(you: int | None) -> None:
    for event in (events.Configured(), events.MatchEnded()):
        shown = tell(event, sent.playing(you=you))
        assert shown is not None
        assert words(shown).startswith("The host ")


def test_what_the_view_shows_at_once_is_not_told() -> None:
    assert tell(events.MatchWon(side=1, totals=[9, 12]), sent.playing()) is None
    assert tell(events.Presence(seat=1, online=True), sent.lobby("Anna", "Bruno")) is None


def test_a_proposal_that_still_stands_is_shown_whole_instead() -> None:
    proposal = Proposal(id=3, by=1, rules={"target": 21}, agreed=[1], waiting=[0], totals=[7, 5])
    proposed = events.RulesProposed(proposal=proposal)
    assert tell(proposed, sent.playing(proposal=proposal)) is None
    past = tell(proposed, sent.playing())
    assert past is not None
    assert words(past) == "Bruno proposed to count by other rules."


def test_an_event_of_a_void_deal_shows_its_table() -> None:
    voided = events.DealVoided(
        deal=2, table=["10D", "10C", "10S", "1B"], hands=[[], []], proof=sent.a_count().proof
    )
    shown = tell(voided, sent.playing())
    assert shown is not None
    assert words(shown) == (
        "Deal 2 is void, the table was 10D 10C 10S 1B: the cards are dealt again."
    )


def test_lists_outside_a_table() -> None:
    held = HeldSeat(server="ws://h/ws", room="KRTNWXYZ", seat=1, name="Anna", token="t")
    assert "scopa join KRTNWXYZ" in text(rooms([held]))
    assert "no answer yet" in text(rooms([structs.replace(held, seat=None)]))
    assert "without an answer" in text(rooms([structs.replace(held, seat=None, room=None)]))
    assert "holds no seats" in text(rooms([]))


def test_an_invite_is_a_code_where_it_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    code = qr("ws://127.0.0.1:8765/KRTNWXYZ", "utf-8", 80)
    assert len({len(words(row)) for row in code}) == 1
    assert len(code) == (len(words(code[0])) + 1) // 2
    assert qr("x", "ascii", 80) == []
    assert qr("x", "utf-8", 20) == []
    monkeypatch.setitem(sys.modules, "segno", None)
    assert qr("x", "utf-8", 80) == []
    assert [words(row) for row in half_blocks([[True, False], [True, True], [False, True]])] == [
        "█▄",
        " ▀",
    ]
