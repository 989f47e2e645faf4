"""What is proposed, and what it would make of the score."""

from msgspec import structs

from scopa_cli.intents import Send, Show
from scopa_cli.model import Known, situation, update
from scopa_cli.reading import read
from scopa_cli.screens.prompt import prompt
from scopa_cli.screens.proposal import proposal
from scopa_protocol.commands import Answer, Propose
from scopa_protocol.events import RulesProposed
from scopa_protocol.rules import SCORING, Rules
from scopa_protocol.views import Proposal, View
from support import server_frames as sent
from support.shown import text

PROPOSED = Proposal(
    id=3,
    by=1,
    rules={"target": 21, "grande": True},
    agreed=[1],
    waiting=[0],
    totals=[9, 5],
)


def over(proposed: Proposal | None = PROPOSED, **changes: object) -> View:
    """A deal that is over, with a proposal."""
    view = sent.playing(
        phase="deal_over",
        to_play=None,
        proposal=proposed,
        count=sent.a_count(),
        sides=[sent.a_side(0, 7), sent.a_side(1, 5)],
    )
    return structs.replace(view, **changes)


def test_old_and_new_are_shown_by_side() -> None:
    assert text(proposal(over())) == (
        "Bruno proposes to count the match with target=21 (now 11) and grande=true (now false):\n"
        "  You      7 → 9  (+2)\n"
        "  Bruno    5 → 5\n"
        "Type agree or decline. All have to agree."
    )
    assert proposal(over(None)) == []


def test_who_agreed_waits_for_the_others() -> None:
    waits = structs.replace(PROPOSED, by=0, agreed=[0], waiting=[1])
    shown = text(proposal(over(waits)))
    assert shown.startswith("You propose to count")
    assert shown.endswith("Waiting for Bruno.")


def test_other_sides_are_named_by_their_people() -> None:
    people = sent.playing("Anna", "Bruno", "Carla", "Dario")
    seats = [structs.replace(seat, side=seat.seat % 2) for seat in people.seats]
    proposed = structs.replace(PROPOSED, rules={"sides": 4}, totals=[1, 2, 3, 4])
    rules = Rules(variant="scopone", players=4, sides=2)
    sides = [sent.a_side(0, 4), sent.a_side(1, 6)]
    view = structs.replace(people, seats=seats, sides=sides, rules=rules, proposal=proposed)
    assert text(proposal(view)).splitlines()[1:4] == [
        "  The score is You & Carla 4, Bruno & Dario 6; it would be:",
        "  You    1",
        "  Bruno  2",
    ]


def test_it_is_shown_once_when_it_comes_and_to_whoever_comes_back() -> None:
    known = Known(view=over(None, seq=20))
    frame = sent.update(over(seq=21), RulesProposed(proposal=PROPOSED))
    known, lines = update(known, frame)
    assert text(lines) == text(proposal(over()))
    assert update(known, sent.update(over(seq=22)))[1] == []
    assert text(proposal(over())) in text(situation(over()))
    assert text(proposal(over())) in text(situation(over(phase="match_over")))


def test_the_prompt_asks_for_the_answer() -> None:
    assert prompt(over())[0] == "agree or decline> "
    assert prompt(over(structs.replace(PROPOSED, waiting=[])))[0] == "Enter when ready> "


def test_only_what_can_be_rescored_is_sent() -> None:
    intent = read("propose target=21 grande=yes", Known(view=over(None)))
    assert isinstance(intent, Send)
    assert isinstance(intent.command, Propose)
    assert intent.command.rules == {"target": 21, "grande": True}
    assert told("propose hand=9", over(None)).startswith("hand shapes the play")
    assert all(f"{field}=" in told("propose", over(None)) for field in SCORING)
    assert told("propose", over()) == text(proposal(over()))
    answer = read("decline", Known(view=over()))
    assert isinstance(answer, Send)
    assert isinstance(answer.command, Answer)
    assert (answer.command.proposal, answer.command.agree) == (3, False)


def told(typed: str, view: View) -> str:
    """What a line is answered with."""
    intent = read(typed, Known(view=view))
    assert isinstance(intent, Show)
    return text(intent.lines)
