"""Whether recorded deals are those that were committed to. Pure."""

from typing import Literal, TypeAlias

from msgspec import Struct

from scopa_protocol.history import HistoryDeal
from scopa_protocol.proof import commitment, faults

from .commitments import Seen, key

Outcome: TypeAlias = Literal["verified", "mismatch", "unseen"]

PROVES = (
    "Verified means: the order of the cards was fixed before the deal and not changed, and the "
    "hands and the table are what that order gives.",
    "It doesn't prove that the order was random, nor that nobody looked at it.",
)
RESTORED = (
    "A commitment is another by now where the order of the cards was changed, but also where the "
    "host put the server back to a backup: the deals played since are shuffled anew. Ask the host."
)
UNSEEN = (
    "A commitment is seen while one plays or watches on this machine. Without it nobody can tell "
    "from the record alone that the order was fixed beforehand."
)


class Verdict(Struct, frozen=True):
    """What came of one deal, and why."""

    deal: int
    outcome: Outcome
    why: str
    another: bool = False
    """Whether another commitment was shown than the deal's, or several were."""


def verify(deal: HistoryDeal, seen: Seen) -> Verdict:
    """Check one deal against what was seen of its room."""
    found = faults(deal)
    hashed = commitment(deal.proof)
    if hashed is None:
        found.append("its proof isn't a salt of 32 bytes and a deck")
    if deal.count is not None and deal.count.proof != deal.proof:
        found.append("its count tells another proof")
    shown = seen.get(key(deal.match, deal.deal), [])
    another = hashed is not None and any(one != hashed for one in shown)
    if len(set(shown)) > 1:
        found.append("its commitment was changed after it had been shown")
    elif shown and hashed is not None and hashed != shown[0]:
        found.append("its salt and deck don't give the commitment that was shown")
    if found:
        return Verdict(deal.deal, "mismatch", "; ".join(found), another)
    if not shown:
        return Verdict(
            deal.deal,
            "unseen",
            "the cards follow from its deck; no commitment of it was seen on this machine",
        )
    return Verdict(deal.deal, "verified", "its deck is the one committed to, and gives its cards")


def room_of(deals: list[HistoryDeal], rooms: list[tuple[str, Seen]]) -> Seen | None:
    """What was seen of the room that these deals are of: the one that committed to any of them."""
    found = [seen for _, seen in rooms if any(_known(deal, seen) for deal in deals)]
    return found[0] if len(found) == 1 else None


def _known(deal: HistoryDeal, seen: Seen) -> bool:
    return commitment(deal.proof) in seen.get(key(deal.match, deal.deal), [])


def status(verdicts: list[Verdict]) -> int:
    """The exit status: 0 if every deal is verified, 1 for a mismatch, 2 if any can't be told."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if "mismatch" in outcomes:
        return 1
    return 0 if outcomes == {"verified"} else 2
