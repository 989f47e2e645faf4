"""What a check of the shuffles came to, deal by deal, and what that means."""

from scopa_cli.lines import Line, Span, line
from scopa_cli.verifying import PROVES, RESTORED, UNSEEN, Verdict

MARKS = {"verified": "verified", "mismatch": "MISMATCH", "unseen": "can't be told"}


def verdicts(found: list[Verdict]) -> list[Line]:
    """Every deal, then what was proved by it and what wasn't."""
    outcomes = {verdict.outcome for verdict in found}
    shown = [_verdict(verdict) for verdict in found]
    if not found:
        return [line("No deal is finished: there is nothing to verify.")]
    if "mismatch" in outcomes:
        wrong = [str(verdict.deal) for verdict in found if verdict.outcome == "mismatch"]
        which = "deal" if len(wrong) == 1 else "deals"
        shown.append(line(Span(f"Not what was committed to: {which} {', '.join(wrong)}.", "bold")))
    shown += [line(RESTORED)] if any(verdict.another for verdict in found) else []
    shown += [line(text) for text in PROVES] if "verified" in outcomes else []
    return [*shown, *([line(UNSEEN)] if "unseen" in outcomes else [])]


def _verdict(verdict: Verdict) -> Line:
    return line(f"Deal {verdict.deal}: ", Span(MARKS[verdict.outcome], "bold"), f": {verdict.why}.")
