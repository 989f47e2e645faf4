"""A seat that a bot plays and a person has reserved: whom it is told of as."""

import pytest
from msgspec import structs

from scopa_cli.autoplay import stuck
from scopa_cli.intents import Intent, Send, Show
from scopa_cli.lines import words
from scopa_cli.model import Known, situation, update
from scopa_cli.reading import read
from scopa_cli.screens import house
from scopa_cli.screens.lobby import lobby
from scopa_cli.screens.narration import tell
from scopa_cli.screens.prompt import prompt
from scopa_protocol import commands as to_server
from scopa_protocol import events
from scopa_protocol.views import Proposal, View
from support import server_frames as sent
from support.shown import text


def waiting(you: int | None = 0, kind: str = "bot", **changes: object) -> View:
    """Zoe has seat 1 reserved, which Arlecchino plays, or nobody since somebody left it."""
    view = sent.playing("Anna", "Arlecchino", you=you, to_play=1, options=None)
    name = "Arlecchino" if kind == "bot" else None
    seat = structs.replace(view.seats[1], kind=kind, name=name, reserved="Zoe")
    return structs.replace(view, seats=[view.seats[0], seat], **changes)


def typed(line: str, view: View) -> Intent:
    """What a line comes to."""
    return read(line, Known(view=view))


PERSONAL = [
    (events.Presence(seat=1, online=True), "Zoe is connected.", "You are connected."),
    (
        events.Presence(seat=1, online=False),
        "Zoe is not connected any more.",
        "You are not connected any more.",
    ),
    (events.Away(seat=1), "Zoe has been away for a while.", "You have been away for a while."),
    (events.Back(seat=1), "Zoe is back.", "You are back."),
    (events.HostChanged(seat=1), "Zoe is the host now.", "You are the host now."),
    (
        events.Paused(seat=1),
        "Zoe pauses the game. unpause: go on.",
        "You pause the game. unpause: go on.",
    ),
    (events.Unpaused(seat=1), "The game goes on, says Zoe.", "The game goes on, says Zoe."),
]


@pytest.mark.parametrize(("event", "others", "own"), PERSONAL, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", ["bot", "vacant"])
def test_what_a_person_does_is_told_of_who_has_the_seat_reserved(
    kind: str, event: events.Event, others: str, own: str
) -> None:
    for you, sentence in ((0, others), (None, others), (1, own)):
        shown = tell(event, waiting(you, kind))
        assert shown is not None
        assert words(shown) == sentence


PLAYED = events.Played(seat=1, card="2B", take=[], scopa=False, to_pile=False, auto=True)


@pytest.mark.parametrize("you", [0, 1, None])
def test_what_the_bot_plays_is_told_of_the_bot(you: int | None) -> None:
    shown = tell(PLAYED, waiting(you))
    assert shown is not None
    assert words(shown) == "Arlecchino plays 2B to the table."


def test_who_waits_for_cards_is_not_asked_to_play() -> None:
    view = waiting(1, hand=[])
    assert prompt(view)[0] == "Arlecchino's turn> "
    assert "Your turn" not in text(situation(view))
    assert "Arlecchino is to play." in text(situation(view))
    _, news = update(Known(view=structs.replace(view, to_play=0)), sent.update(view))
    assert text(news).endswith("Arlecchino is to play.")
    assert not stuck(view)
    told = typed("7D", view)
    assert isinstance(told, Show)
    assert text(told.lines) == "Your cards come with the next deal."


def test_a_lobby_tells_the_two_apart() -> None:
    shown = text(lobby(waiting(1, host=1)))
    assert "  seat 1  Arlecchino (bot), then Zoe (you, host)\n" in f"{shown}\n"
    vacant = waiting(0, "vacant")
    vacant = structs.replace(
        vacant, seats=[vacant.seats[0], structs.replace(vacant.seats[1], online=False)]
    )
    assert "  seat 1  vacant, reserved for Zoe (not connected)" in text(lobby(vacant)).splitlines()
    away = waiting(0)
    away = structs.replace(away, seats=[away.seats[0], structs.replace(away.seats[1], away=True)])
    assert "  seat 1  Arlecchino (bot), then Zoe (away)" in text(lobby(away)).splitlines()


def test_a_room_is_looked_at_with_who_comes() -> None:
    shown = text(house.room(sent.a_room(waiting()), 80))
    assert shown.endswith("At the table: Anna, Zoe (from the next deal).")


def test_a_pause_and_a_proposal_are_of_who_comes() -> None:
    assert "Paused by Zoe." in text(situation(waiting(0, paused_by=1)))
    proposed = Proposal(id=3, by=1, rules={"target": 21}, agreed=[1], waiting=[0], totals=[7, 5])
    over = waiting(0, phase="deal_over", to_play=None, proposal=proposed, count=sent.a_count())
    assert "Zoe proposes to count" in text(situation(over))
    waits = structs.replace(proposed, by=0, agreed=[0], waiting=[1])
    assert "Waiting for Zoe." in text(situation(structs.replace(over, proposal=waits)))
    ready = [structs.replace(over.seats[0], ready=True), over.seats[1]]
    assert prompt(structs.replace(over, proposal=None, seats=ready))[0] == "waiting for Zoe> "


@pytest.mark.parametrize("kind", ["bot", "vacant"])
@pytest.mark.parametrize("line", ["kick 1", "kick zoe"])
def test_the_person_is_the_one_who_is_named_or_sits_there(kind: str, line: str) -> None:
    assert typed(line, waiting(0, kind)) == Send(to_server.Unseat(seat=1, name="Zoe"))


def test_the_host_s_power_is_of_who_comes() -> None:
    assert typed("host 1", waiting(0)) == Send(to_server.MakeHost(seat=1, name="Zoe"))
    assert typed("host me", waiting(1)) == Send(to_server.MakeHost(seat=1, name="Zoe"))


def test_a_bot_with_a_reserved_seat_is_found_by_its_name() -> None:
    bot = Send(to_server.Unseat(seat=1, name="Arlecchino"))
    assert typed("kick arlecchino", waiting(0)) == bot


def test_no_bot_is_put_on_a_reserved_seat() -> None:
    told = typed("bot", waiting(0, "vacant"))
    assert isinstance(told, Show)
    assert text(told.lines) == "No seat is free for a bot."
