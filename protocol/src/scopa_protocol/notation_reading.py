"""Reading the notation: each line is about one thing, and adds it to the deal that is read."""

import re
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct, structs

from .history import HandDeclared, HistoryDeal, ShownCard, SweptOpening
from .notation_words import Clause, Wrong, card, number, split
from .rules import Rules
from .views import Count, LeftoverCards, Proof, SideCount

TURN: Final = re.compile(r"([0-9]{1,6})\.", re.ASCII)
SWITCHES: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
USUAL: Final[dict[str, bool | int | str]] = structs.asdict(Rules())


class Writing(Struct):
    """A deal as far as it was read."""

    line: int
    deal: int
    given: dict[str, int | str] = {}
    rules: dict[str, bool | int | str] = {}
    void: bool = False
    decks: dict[str, list[str]] = {}
    first: ShownCard | None = None
    batches: list[list[list[str]]] = []
    table: list[str] = []
    swept: SweptOpening | None = None
    declared: list[HandDeclared] = []
    plays: list[tuple[int, str, list[str], bool]] = []
    counted: bool = False
    count_deal: int | None = None
    sides: list[SideCount] = []
    totals: list[int] = []
    leftovers: LeftoverCards | None = None
    other_proof: bool = False


def read_deals(text: str) -> list[HistoryDeal]:
    """The deals of a text. Raises ValueError, in words, with the line's number."""
    deals: list[Writing] = []
    # A reader of files may leave the mark of UTF-8 in place.
    for place, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        try:
            _read(line, place, deals)
        except Wrong as wrong:
            raise ValueError(f"line {place}: {wrong}") from None
    return [_whole(writing) for writing in deals]


def _read(line: str, place: int, deals: list[Writing]) -> None:
    clause = split(line)
    if clause is None:
        return
    head = clause.head.lower()
    if head == "deal":
        deals.append(Writing(line=place, deal=number(clause.only())))
        return
    if not deals:
        raise Wrong("a deal begins with its number, as in: deal 3")
    if TURN.fullmatch(head):
        _play(deals[-1], clause)
    elif head in READERS:
        READERS[head](deals[-1], clause)
    else:
        raise Wrong(f"a line can't begin with {msgspec.json.encode(clause.head).decode()}")


def _once(writing: Writing, clause: Clause, value: int | str) -> None:
    key = clause.head.lower()
    if key in writing.given:
        raise Wrong(f"{key} stands twice")
    writing.given[key] = value


def _numeral(writing: Writing, clause: Clause) -> None:
    _once(writing, clause, number(clause.only()))


def _word(writing: Writing, clause: Clause) -> None:
    _once(writing, clause, clause.only())


def _void(writing: Writing, clause: Clause) -> None:
    _bare(clause)
    writing.void = True


def _bare(clause: Clause) -> None:
    if clause.words or clause.pairs:
        raise Wrong(f"nothing belongs behind {clause.head}")


def _rules(writing: Writing, clause: Clause) -> None:
    if clause.words:
        raise Wrong("a rule is written KEY=VALUE")
    for field, text in clause.pairs.items():
        if field not in USUAL or field == "variant":
            raise Wrong(f"there is no rule {msgspec.json.encode(field).decode()}")
        if field in writing.rules:
            raise Wrong(f"{field}= stands twice")
        writing.rules[field] = _rule(field, text)


def _rule(field: str, text: str) -> bool | int | str:
    usual = USUAL[field]
    value: bool | int | str = text
    if isinstance(usual, bool):
        if text.lower() not in SWITCHES:
            raise Wrong(f"{field} is true or false")
        value = SWITCHES[text.lower()]
    elif isinstance(usual, int):
        value = number(text)
    try:
        msgspec.convert({field: value}, Rules)
    except msgspec.ValidationError:
        raise Wrong(f"{field} can't be {msgspec.json.encode(text).decode()}") from None
    return value


def _deck(writing: Writing, clause: Clause) -> None:
    key = clause.head.lower()
    if "text" in clause.pairs:
        if key in writing.decks:
            raise Wrong(f"{key} stands twice")
        writing.decks[key] = [clause.pairs["text"]]
    else:
        writing.decks.setdefault(key, []).extend(clause.cards())


def _first(writing: Writing, clause: Clause) -> None:
    if len(clause.words) != 2 or clause.words[1].lower() not in ("kept", "laid"):
        raise Wrong("a first card is written: first seat=0 5B kept (or laid)")
    kept = clause.words[1].lower() == "kept"
    writing.first = ShownCard(seat=clause.number("seat"), card=card(clause.words[0]), kept=kept)


def _batch(writing: Writing, clause: Clause) -> None:
    if number(clause.only()) != len(writing.batches) + 1:
        raise Wrong(f"batch {len(writing.batches) + 1} is the next")
    writing.batches.append([])


def _hand(writing: Writing, clause: Clause) -> None:
    if not writing.batches:
        raise Wrong("a batch begins with its number, as in: batch 1")
    _place(writing.batches[-1], clause.numbered()).extend(clause.cards())


def _place(lists: list[list[str]], place: int) -> list[str]:
    """The list at a place, which may be the next one."""
    if not 0 <= place <= len(lists):
        raise Wrong(f"{len(lists)} is the next, not {place}")
    if place == len(lists):
        lists.append([])
    return lists[place]


def _table(writing: Writing, clause: Clause) -> None:
    writing.table.extend(clause.cards())


def _swept(writing: Writing, clause: Clause) -> None:
    writing.swept = SweptOpening(
        side=clause.number("side"), cards=clause.cards(), scope=clause.number("scope")
    )


def _declared(writing: Writing, clause: Clause) -> None:
    hand = HandDeclared(
        batch=clause.number("batch"),
        seat=clause.number("seat"),
        kind=clause.text("kind"),
        cards=clause.cards(),
        matta=clause.optional("matta"),
        points=clause.number("points"),
    )
    writing.declared.append(hand)


def _play(writing: Writing, clause: Clause) -> None:
    if number(clause.head.rstrip(".")) != len(writing.plays) + 1:
        raise Wrong(f"turn {len(writing.plays) + 1} is the next")
    words = clause.words
    scopa = words[-1:] == ["!"]
    words = words[:-1] if scopa else words
    takes = len(words) > 3 and words[2].lower() == "x"
    if clause.pairs or not (len(words) == 2 or takes):
        raise Wrong("a play is written: 17. 2 5D x 2C 3S ! (turn, seat, card, what it took, scopa)")
    take = [card(word) for word in words[3:]]
    writing.plays.append((number(words[0]), card(words[1]), take, scopa))


def _leftovers(writing: Writing, clause: Clause) -> None:
    writing.counted = True
    writing.leftovers = LeftoverCards(side=clause.number("side"), cards=clause.cards())


def _count(writing: Writing, clause: Clause) -> None:
    writing.counted = True
    writing.count_deal = clause.optional("deal")


def _side(writing: Writing, clause: Clause) -> None:
    if clause.numbered() != len(writing.sides):
        raise Wrong(f"side {len(writing.sides)} is the next")
    writing.counted = True
    side = SideCount(
        cards=clause.number("cards"),
        coins=clause.number("coins"),
        primiera=clause.optional("primiera"),
        scope=clause.number("scope"),
        points={},
        total=clause.number("total"),
        pile=[],
    )
    writing.sides.append(side)


def _known(writing: Writing, clause: Clause) -> SideCount:
    place = clause.numbered()
    if not 0 <= place < len(writing.sides):
        raise Wrong(f"side {place} must come before its {clause.head}")
    return writing.sides[place]


def _points(writing: Writing, clause: Clause) -> None:
    side = _known(writing, clause)
    if clause.words:
        raise Wrong("points are written ITEM=NUMBER")
    for item, points in clause.pairs.items():
        side.points[item] = number(points)


def _pile(writing: Writing, clause: Clause) -> None:
    _known(writing, clause).pile.extend(clause.cards())


def _totals(writing: Writing, clause: Clause) -> None:
    writing.counted = True
    writing.totals.extend(map(number, clause.words))


def _other_proof(writing: Writing, clause: Clause) -> None:
    _bare(clause)
    writing.other_proof = True


READERS: Final[dict[str, Callable[[Writing, Clause], None]]] = {
    "match": _numeral,
    "dealer": _numeral,
    "void": _void,
    "variant": _word,
    "rules": _rules,
    "salt": _word,
    "deck": _deck,
    "first": _first,
    "batch": _batch,
    "hand": _hand,
    "table": _table,
    "swept": _swept,
    "declared": _declared,
    "leftovers": _leftovers,
    "count": _count,
    "side": _side,
    "points": _points,
    "pile": _pile,
    "totals": _totals,
    "other-proof": _other_proof,
    "other-salt": _word,
    "other-deck": _deck,
}


def _whole(writing: Writing) -> HistoryDeal:
    """The deal, once its last line was read. Raises ValueError for what it lacks."""
    for key in ("match", "dealer"):
        if key not in writing.given:
            raise ValueError(f"line {writing.line}: deal {writing.deal} has no line for its {key}")
    proof = _proof(writing, "")
    rules = {"variant": writing.given.get("variant", "scopa"), **writing.rules}
    return HistoryDeal(
        deal=writing.deal,
        match=int(writing.given["match"]),
        void=writing.void,
        dealer=int(writing.given["dealer"]),
        rules=msgspec.convert(rules, Rules),
        first_card=writing.first,
        deals=writing.batches,
        table=writing.table,
        opening_swept=writing.swept,
        declared=writing.declared,
        plays=writing.plays,
        count=_counted(writing, proof) if writing.counted else None,
        proof=proof,
    )


def _proof(writing: Writing, prefix: str) -> Proof:
    salt = str(writing.given.get(f"{prefix}salt", ""))
    return Proof(salt=salt, deck=",".join(writing.decks.get(f"{prefix}deck", [])))


def _counted(writing: Writing, proof: Proof) -> Count:
    return Count(
        deal=writing.deal if writing.count_deal is None else writing.count_deal,
        sides=writing.sides,
        totals=writing.totals,
        leftovers=writing.leftovers,
        proof=_proof(writing, "other-") if writing.other_proof else proof,
    )
