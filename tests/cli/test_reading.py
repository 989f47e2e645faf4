"""What typed lines come to."""

import pytest
from msgspec import structs

from scopa_cli.intents import Choose, Go, Intent, Send, Show, Sure
from scopa_cli.lines import words
from scopa_cli.model import Choice, Known
from scopa_cli.orders import ORDERS
from scopa_cli.reading import help_lines, read
from scopa_cli.values import pairs, value
from scopa_protocol import commands as c
from scopa_protocol.rules import Rules
from scopa_protocol.views import Declaration, Proposal, View
from support.server_frames import CODE, a_count, a_seat, lobby, playing


def sent(text: str, view: View | None = None, **known: object) -> c.ClientCommand:
    """The command that a line comes to."""
    intent = intended(text, view, **known)
    assert isinstance(intent, Send), intent
    return intent.command


def told(text: str, view: View | None = None, **known: object) -> str:
    """The sentences that a line comes to."""
    intent = intended(text, view, **known)
    assert isinstance(intent, Show), intent
    return "\n".join(map(words, intent.lines))


def intended(text: str, view: View | None = None, **known: object) -> Intent:
    """What a line comes to."""
    return read(text, structs.replace(Known(view=view or playing()), **known))


def with_a_bot() -> View:
    """A lobby of Anna, and Bruno who is a bot."""
    return lobby(seats=[a_seat(0, "Anna"), a_seat(1, "Bruno", kind="bot")])


def a_play(card: str, *take: str) -> c.Play:
    """A play of the first turn."""
    return c.Play(deal=1, turn=1, card=card, take=list(take))


@pytest.mark.parametrize(
    ("text", "play"),
    [
        ("2", a_play("1S")),
        ("3", a_play("10S", "10B")),
        ("10s", a_play("10S", "10B")),
        ("7D 3C 4S", a_play("7D", "3C", "4S")),
        ("7d 4s,3c", a_play("7D", "4S", "3C")),
        ("1 7C", a_play("7D", "7C")),
        ("7D lay", a_play("7D")),
        ("7D -", a_play("7D")),
    ],
)
def test_plays(text: str, play: c.Play) -> None:
    assert sent(text) == play


def test_a_card_with_several_captures_is_asked_about() -> None:
    intent = intended("7D")
    assert isinstance(intent, Choose)
    assert intent.choice.takes == [["7C"], ["3C", "4S"]]
    choice = intent.choice
    assert sent("2", choice=choice) == a_play("7D", "3C", "4S")
    assert told("3", choice=choice) == "Type a number from 1 to 2, or another card."
    assert "take 7C" in told("", choice=choice)
    assert sent("1S", choice=choice) == a_play("1S")


def test_laying_is_one_of_the_choices_where_captures_are_free() -> None:
    view = playing(rules=Rules(must_capture=False))
    intent = intended("10S", view)
    assert isinstance(intent, Choose)
    assert intent.choice.takes == [["10B"], []]


def test_without_hints_the_person_says_what_is_taken() -> None:
    view = playing(options=None)
    assert sent("7D", view) == a_play("7D")
    assert sent("7D 7C", view) == a_play("7D", "7C")


def test_a_cut_list_of_captures_is_never_taken_for_the_whole() -> None:
    view = playing(options={"10S": [["10B"]]}, options_cut=True)
    assert isinstance(intended("10S", view), Choose)


@pytest.mark.parametrize(
    ("text", "view", "sentence"),
    [
        ("4", playing(), "There is no card 4: type a number from 1 to 3."),
        ("0", playing(), "There is no card 0"),
        ("9" * 5000, playing(), "999"),
        ("5D", playing(), "You don't hold 5D. Your cards: 7D, 1S, 10S."),
        ("7D 9B", playing(), "9B isn't on the table. There: 3C, 4S, 7C, 10B."),
        ("7D 3C 3C", playing(), "You named a card twice"),
        ("7D queen", playing(), "queen is no card: type what 7D takes like 7D 3C 4S."),
        ("7D", playing(to_play=1), "It is Bruno's turn."),
        ("7D", playing(to_play=None), "The first card is being decided"),
        ("7D", playing(first_card="5B"), "First say whether you take the first card"),
        ("7D", playing(you=None, to_play=0), "You are watching"),
        ("7D", lobby(), "No cards are being played now."),
        ("7D", lobby(phase="deal_over"), "No cards are being played now. Press Enter"),
        ("7D", lobby(phase="match_over"), "No cards are being played now. A rematch? Type start"),
        ("dance", playing(), "dance isn't known here. Type a card's number to play it, or help."),
        ("dance", lobby(), "dance isn't known here. Type help."),
        ("st", playing(), "st could be start or standin: type it in full."),
        ("leav", playing(), "leav could be leave: type it in full."),
        ("ready", playing(), "ready is for after a deal"),
        ("say " + "è" * 3000, playing(), "That line is too long"),
        ("propose " + "x=1 " * 2000, playing(), "That line is too long"),
        ("say " + "\ud800" * 6000, playing(), "That line is too long"),
        ("say", playing(), "Type what you want to say"),
        ("sit", lobby(), "sit SEAT: type a seat's number, 0 to 1, or a name at the table."),
        ("sit 7", lobby(), "sit SEAT: there is no seat 7: type a seat's number, 0 to 1"),
        ("sit Ugo", lobby(), "sit SEAT: nobody here is called Ugo: type a seat's number, 0 to 1"),
        ("kick A", lobby("Anna", "Aldo"), "kick SEAT: A could be Anna or Aldo: type a seat's"),
        ("kick 1", lobby(), "Nobody sits on seat 1."),
        ("host 1", lobby(), "Nobody sits on seat 1."),
        ("host Bruno", with_a_bot(), "Bruno is a bot and can't be the host"),
        ("arrange Anna", lobby(), "Name all 2 seats in order; they are now: arrange Anna,-"),
        ("rule target", lobby(), "rule KEY=VALUE: write target=VALUE"),
        ("set =3", lobby(), "set KEY=VALUE: write a rule=VALUE"),
        ("bot", lobby("Anna", "Bruno"), "No seat is free for a bot."),
        ("start", playing(), "The match is running."),
        ("end", lobby(), "No match is running."),
        ("pause", playing(paused_by=1), "The game is paused already: unpause goes on."),
        ("unpause", playing(), "The game isn't paused."),
        ("agree", playing(), "Nothing is proposed now."),
        ("keep", playing(), "You aren't asked about a first card."),
        ("declare", playing(), "You have nothing to declare now."),
        ("passcode", lobby(), "passcode WORD asks newcomers"),
        ("propose", playing(), "Type the scoring rules to count with"),
        ("ready", playing(you=None), "You are watching: ready is for those seated."),
    ],
)
def test_wrong_input_is_answered_with_what_to_type(text: str, view: View, sentence: str) -> None:
    assert told(text, view).startswith(sentence)


def test_one_turn_is_played_once() -> None:
    assert told("1S", played=(1, 1)).startswith("Your play is on its way")
    assert sent("1S", played=(1, 0)) == a_play("1S")


OVER = playing(phase="deal_over", to_play=None, count=a_count())
PROPOSED = playing(proposal=Proposal(id=4, by=1, rules={}, agreed=[1], waiting=[0], totals=[0, 0]))


@pytest.mark.parametrize(
    ("text", "view", "command"),
    [
        ("", OVER, c.Ready(deal=1)),
        ("r", OVER, c.Ready(deal=1)),
        ("start", lobby("Anna", "Bruno"), c.Start()),
        ("star", lobby("Anna", "Bruno"), c.Start()),
        ("bot", lobby(), c.SeatBot(seat=1)),
        ("bot 1 easy", lobby(), c.SeatBot(seat=1, level="easy")),
        ("sit 1", lobby(), c.Sit(seat=1)),
        ("arrange Bruno, anna", lobby("Anna", "Bruno"), c.Arrange(names=["Bruno", "Anna"])),
        ("arrange -,Anna", lobby(), c.Arrange(names=[None, "Anna"])),
        ("kick Bru", lobby("Anna", "Bruno"), c.Unseat(seat=1, name="Bruno")),
        ("standin 1", playing(), c.StandIn(seat=1)),
        ("host Bruno", playing(), c.MakeHost(seat=1, name="Bruno")),
        ("host me", playing(), c.MakeHost(seat=0, name="Anna")),
        ("rule target=21 ace_sweeps=on", lobby(), None),
        ("passcode none", lobby(), c.Configure(passcode="")),
        ("passcode scopa", lobby(), c.Configure(passcode="scopa")),
        ("pause", playing(), c.Pause()),
        ("unpause", playing(paused_by=1), c.Unpause()),
        ("propose target=21", OVER, c.Propose(rules={"target": 21})),
        ("agree", PROPOSED, c.Answer(proposal=4, agree=True)),
        ("decline", PROPOSED, c.Answer(proposal=4, agree=False)),
        ("keep", playing(first_card="5B"), c.FirstCard(deal=1, keep=True)),
        ("refuse", playing(first_card="5B"), c.FirstCard(deal=1, keep=False)),
    ],
)
def test_orders(text: str, view: View, command: c.ClientCommand | None) -> None:
    expected = command or c.Configure(rules={"target": 21, "ace_sweeps": True})
    assert sent(text, view) == expected


def test_talk_has_a_key_of_its_own_each_time() -> None:
    first, second = sent("'ciao, a tutti"), sent("say ciao, a tutti")
    assert isinstance(first, c.Say)
    assert isinstance(second, c.Say)
    assert first.text == second.text == "ciao, a tutti"
    assert first.key
    assert first.key != second.key


def test_declarations_are_chosen_by_number() -> None:
    offers = [
        Declaration(kind="low", matta=2, points=3),
        Declaration(kind="three", matta=None, points=10),
    ]
    view = playing(declarations=offers, batch=2)
    assert "declare 2: three (10 points)" in told("declare", view)
    assert sent("declare 1", view) == c.Declare(deal=1, batch=2, kind="low", matta=2)
    assert sent("declare", playing(declarations=offers[1:])) == c.Declare(
        deal=1, batch=1, kind="three"
    )


def test_what_cannot_be_undone_is_asked_about() -> None:
    assert isinstance(intended("end"), Sure)
    assert isinstance(intended("leave"), Sure)
    assert intended("leave", lobby()) == Go("leave")
    assert intended("quit") == Go("quit")
    assert intended("q") == Go("quit")


@pytest.mark.parametrize("text", ["help", "?", "h", "Help me"])
def test_help_names_every_order(text: str) -> None:
    shown = told(text)
    assert all(order.usage in shown for order in ORDERS.values())
    assert "D denari" in shown


def test_help_parts_what_the_host_has_and_what_a_watcher_has() -> None:
    seated, host = told("help").split("The host also has:")
    assert "pause" in seated
    assert "kick SEAT" not in seated
    assert "kick SEAT" in host
    watching = told("help", playing(you=None))
    assert "say TEXT" in watching
    assert "7D" not in watching
    assert "pause" not in watching
    assert "kick SEAT" not in watching


def test_help_while_connecting_is_that_of_who_will_sit_or_watch() -> None:
    seated, watching = (
        "\n".join(map(words, help_lines(Known(watching=watching)))) for watching in (False, True)
    )
    assert "kick SEAT" in seated
    assert "say TEXT" in watching
    assert "pause" not in watching
    assert "kick SEAT" not in watching


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("table", "Deal 1"),
        ("t", "Deal 1"),
        ("count", "The count of deal 1"),
        ("c", "You: 7D 3C 4S"),
        ("score", "Match 1, to 11"),
        ("lobby", f"Room {CODE}"),
        ("rule", f"Room {CODE}"),
        ("invite", "ws://h/KRTNWXYZ"),
    ],
)
def test_screens_are_shown_again(text: str, piece: str) -> None:
    assert piece in told(text, OVER, invite="ws://h/KRTNWXYZ")


@pytest.mark.parametrize("to_play", [0, 1])
def test_any_card_takes_the_seat_back_from_the_server(to_play: int) -> None:
    seats = [a_seat(0, "Anna", stand_in=True), a_seat(1, "Bruno")]
    assert sent("1S", playing(seats=seats, to_play=to_play, options=None)) == a_play("1S")


def test_a_card_after_the_match_is_told_who_can_start_another() -> None:
    shown = told("7D", lobby("Anna", "Bruno", you=1, phase="match_over"))
    assert shown.startswith("No cards are being played now. A rematch? Anna can start one.")


def test_before_the_table_only_leaving_makes_sense() -> None:
    assert isinstance(read("quit", Known()), Go)
    shown = read("7D", Known())
    assert isinstance(shown, Show)
    assert "aren't at the table yet" in words(shown.lines[0])
    assert isinstance(read("help", Known()), Show)


def test_nothing_typed_is_nothing_done() -> None:
    assert told("   ") == ""


def test_values_are_read_as_their_field_is() -> None:
    assert value("grande", "off") is False
    assert value("napola", "off") == "off"
    assert value("watchers_talk", "Yes") is True
    assert value("target", "21") == 21
    assert value("of_tomorrow", "true") == "true"
    assert pairs(["Variant=scopone", "players=4"]) == {"variant": "scopone", "players": 4}


def test_a_choice_of_another_turn_is_no_choice() -> None:
    choice = Choice(deal=1, turn=1, card="7D", takes=[["7C"], ["3C", "4S"]])
    assert sent("2", choice=choice) == a_play("7D", "3C", "4S")
    assert sent("2", choice=None) == a_play("1S")
