"""What is known of the table, and what each frame gives to tell. Pure."""

from collections.abc import Iterable

from msgspec import Struct, structs

from scopa_protocol.events import RoomEvent
from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import View

from .lines import Line, line
from .screens.count import count, sheet
from .screens.lobby import changes, how_to_fill, lobby
from .screens.narration import said, tell
from .screens.people import my_cards
from .screens.prompt import rematch
from .screens.proposal import proposal
from .screens.table import table


class Choice(Struct, frozen=True, kw_only=True):
    """A card with several captures, waiting for one of their numbers."""

    deal: int
    turn: int
    card: str
    takes: list[list[str]]


class Known(Struct, frozen=True, kw_only=True):
    """The latest view, and what the person is in the middle of."""

    view: View | None = None
    watching: bool = False
    """Whether the person asked to watch, whatever is known of the table."""
    invite: str | None = None
    choice: Choice | None = None
    played: tuple[int, int] | None = None
    """Deal and turn of the play that was sent and not refused."""


def enter(known: Known, frame: Joined, *, again: bool) -> tuple[Known, list[Line]]:
    """Fold a `joined`: whatever was known before, this is how things are."""
    back = _gone_back(known.view, frame.view)
    known = _seen(structs.replace(known, invite=frame.invite), frame.view)
    talk = [] if again else [said(past.name, past.text) for past in frame.talk]
    return known, [*back, *talk, *situation(frame.view)]


def update(known: Known, frame: Update) -> tuple[Known, list[Line]]:
    """Fold an `update`; one that is older than what is known tells nothing."""
    old, new = known.view, frame.view
    if old is not None and old.log == new.log and new.seq < old.seq:
        return known, []
    return _seen(known, new), [*_gone_back(old, new), *news(old, new, frame.events)]


def _gone_back(old: View | None, new: View) -> list[Line]:
    """Whether the room's log is shorter than it was: its store was put back to a backup."""
    shorter = old is not None and old.log != new.log and new.seq < old.seq
    return [line("The table went back to an earlier moment.")] if shorter else []


def _seen(known: Known, view: View) -> Known:
    choice = known.choice
    if choice and (choice.deal, choice.turn) != (view.deal, view.turn):
        choice = None
    return structs.replace(known, view=view, choice=choice)


def situation(view: View) -> list[Line]:
    """Everything a person needs who just sat down, or came back."""
    if view.phase == "playing":
        return table(view)
    if view.phase == "deal_over":
        return [*count(view), *proposal(view)]
    if view.phase == "match_over":
        return [*count(view), *sheet(view), *proposal(view), line(rematch(view))]
    return [*lobby(view), *how_to_fill(view)]


def news(old: View | None, new: View, events: Iterable[RoomEvent]) -> list[Line]:
    """What to tell after a change: the events in words, then what they led to."""
    told = [sentence for event in events if (sentence := tell(event, new)) is not None]
    if old is None:
        return [*told, *situation(new)]
    return [
        *told,
        *changes(old, new),
        *_counted(old, new),
        *_proposed(old, new),
        *_waiting(old, new),
        *_at_table(old, new),
    ]


def _proposed(old: View, new: View) -> list[Line]:
    before = old.proposal.id if old.proposal is not None else None
    return proposal(new) if new.proposal is not None and new.proposal.id != before else []


def _counted(old: View, new: View) -> list[Line]:
    shown: list[Line] = []
    if new.count is not None and (old.count is None or old.count.deal != new.count.deal):
        shown += count(new)
    ended = new.phase == "match_over" and old.phase != "match_over"
    rescored = [side.score for side in old.sides] != [side.score for side in new.sides]
    if ended or (rescored and new.phase == old.phase and new.phase != "playing"):
        shown += sheet(new)
    if ended and rematch(new):
        shown.append(line(rematch(new)))
    return shown


def _waiting(old: View, new: View) -> list[Line]:
    """The lobby: whole after a change of rules, otherwise what it still waits for."""
    if new.phase not in ("lobby", "match_over") or old.phase != new.phase:
        return []
    if (old.rules, old.settings) != (new.rules, new.settings):
        return [*lobby(new), *how_to_fill(new)]
    seats = [[(seat.name, seat.kind) for seat in view.seats] for view in (old, new)]
    return how_to_fill(new) if seats[0] != seats[1] or old.host != new.host else []


def _at_table(old: View, new: View) -> list[Line]:
    """The table: on one's turn, when cards were dealt, after plays for who has no cards."""
    if new.phase != "playing":
        return []
    moment = _moment(new) != _moment(old)
    mine = new.to_play is not None and new.to_play == my_cards(new)
    dealt = (new.deal, new.batch) != (old.deal, old.batch) and new.to_play is not None
    asked = new.first_card is not None and old.first_card is None
    resumed = old.paused_by is not None and new.paused_by is None
    watching = my_cards(new) is None
    if (moment and (mine or watching)) or dealt or asked or (resumed and mine):
        return table(new)
    return []


def _moment(view: View) -> tuple[str, int, int, int | None]:
    return view.phase, view.deal, view.turn, view.to_play
