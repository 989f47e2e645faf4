"""The phases of a room as a table: which event leads from which phase to which."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from scopa_protocol.views import Phase

from . import events as e

TRANSITIONS: Final[Mapping[Phase, Mapping[type[e.Event], Phase]]] = {
    "lobby": {e.MatchStarted: "playing"},
    "playing": {e.DealCounted: "deal_over", e.MatchEnded: "match_over"},
    "deal_over": {
        e.Dealt: "playing",
        e.DealVoided: "playing",
        e.FirstCardOffered: "playing",
        e.MatchWon: "match_over",
        e.MatchEnded: "match_over",
    },
    "match_over": {e.MatchStarted: "playing"},
}
"""Every change of phase there is. Other events leave the phase as it is."""

_Kinds: TypeAlias = frozenset[type[e.Event]]

_ANYWHERE: Final[_Kinds] = frozenset(
    {
        e.SeatTaken,
        e.SeatLeft,
        e.Away,
        e.Back,
        e.HostChanged,
        e.Configured,
        e.Said,
    }
)
_BETWEEN: Final[_Kinds] = _ANYWHERE | {e.Arranged}
_RESCORING: Final[_Kinds] = frozenset({e.Proposed, e.Agreed, e.ProposalDropped, e.Rescored})
_TABLE: Final[_Kinds] = _ANYWHERE | {e.StoodIn, e.Paused, e.Unpaused}
_DEALING: Final[_Kinds] = frozenset(
    {
        e.DealerDrawn,
        e.Shuffled,
        e.FirstCardOffered,
        e.FirstCardKept,
        e.FirstCardLaid,
        e.DealVoided,
        e.Dealt,
        e.OpeningSwept,
    }
)

WITHIN: Final[Mapping[Phase, _Kinds]] = {
    "lobby": _BETWEEN | {e.Opened},
    "playing": _TABLE | _DEALING | {e.Declared, e.Played, e.Leftovers},
    "deal_over": _TABLE | _RESCORING | {e.Shuffled, e.Readied},
    "match_over": _BETWEEN,
}
"""What may happen within each phase."""

_AFTER: Final[Mapping[Phase, Mapping[type[e.Event], Phase]]] = {
    phase: {**dict.fromkeys(WITHIN[phase], phase), **TRANSITIONS[phase]} for phase in TRANSITIONS
}
"""Both in one: the phase after each event that may happen."""


class ImpossibleEvent(Exception):
    """An event that can't happen in the room's phase: the log is not a room's, or we erred."""


def phase_after(phase: Phase, event: e.LogEvent) -> Phase:
    """The phase after an event. Raises ImpossibleEvent."""
    try:
        return _AFTER[phase][type(event)]
    except KeyError:
        raise ImpossibleEvent(f"{type(event).__name__} in {phase}") from None
