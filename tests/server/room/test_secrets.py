"""No secret shows when a value is printed: of any state, event, command or exception."""

import random
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any, get_args

import msgspec
import pytest

from scopa_protocol import commands as c
from scopa_server.room import decide as deciding
from scopa_server.room import events as e
from scopa_server.room.machine import ImpossibleEvent, phase_after
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room, Shuffle
from scopa_server.room.stored import Header, header, load, read_header
from scopa_server.rules.cards import DECK
from scopa_server.rules.deal import Deal
from support.tables import Table
from support.wander import stir, wander

DEALT: dict[str, Any] = {
    "variant": "chkobba",
    "void_deal": "two_aces",
    "opening_sweep": True,
    "declarations": True,
    "matta": True,
    "declare_both": True,
}
"""Everything that a deal may begin with."""
GEHEIM = "geheim"
CARD = re.compile(r"\b(?:10|[1-9])[DCSB]\b")


def parts(value: object) -> Iterator[object]:
    """A value and all that it is made of."""
    yield value
    inner: list[Any] = []
    if isinstance(value, msgspec.Struct):
        inner = [getattr(value, name) for name in value.__struct_fields__]
    elif is_dataclass(value):
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, tuple | list | frozenset):
        inner = list(value)
    elif isinstance(value, dict):
        inner = list(value.values())
    for one in inner:
        yield from parts(one)


def printed(value: object) -> str:
    """All the ways in which a value may end up in a log."""
    return f"{value!r} {value} {[value]}"


def secrets(room: Room) -> set[str]:
    """Texts that nobody may read in a log."""
    held = {part for part in parts(room) if isinstance(part, Shuffle)}
    found = {shuffle.salt for shuffle in held}
    found |= {seat.holder.token for seat in room.seats if seat.holder}
    return found | ({room.passcode} if room.passcode else set())


def test_no_state_or_event_shows_what_it_holds() -> None:
    kinds: set[type] = set()
    for seed in range(10):
        game = {"players": 2 + seed % 3, "void_deal": "two_aces"}
        table = Table(seed=seed, variant="scopa", target=3, **game)
        if seed % 4:
            table.fill()
        for before, _, command, events in wander(table, seed, 250):
            kinds |= {type(event) for event in events}
            _prints_nothing(before, table, command, *events)
    table, chance = Table(target=101, **DEALT).start(), random.Random(1)
    for _ in range(500):
        before, events = table.room, table.step(chance)
        kinds |= {type(event) for event in events}
        _prints_nothing(before, table, *events)
    # Opened is in the log before anybody wanders.
    assert set(get_args(e.LogEvent)) - kinds <= {e.Opened}


def _prints_nothing(before: Room, table: Table, *more: object) -> None:
    hidden = secrets(table.room) | secrets(before)
    for part in (table.room, *table.room.seats, table.context, *more):
        shown = printed(part)
        assert not any(secret in shown for secret in hidden)
        assert not CARD.search(shown)


def test_no_part_of_a_room_shows_a_card_that_is_not_seen() -> None:
    table = Table(seed=1, variant="scopa", target=50).start()
    for _ in range(5):
        table.play(random.Random(1))
    deal = table.room.deal
    assert deal is not None
    hidden = {*chain(*deal.hands), *deal.deck[len(DECK) - deal.stock :]}
    seen: set[type] = set()
    for part in parts(table.room):
        if type(part).__module__.startswith("scopa_"):
            seen.add(type(part))
            assert not hidden & set(CARD.findall(printed(part))), type(part)
    assert {Deal, Shuffle, Room} <= seen


def test_every_event_prints_its_type_alone() -> None:
    table = Table(seed=3, variant="scopa", target=1).start().deal_out(random.Random(1))
    for _, payload in table.log:
        for event in e.read_events(payload):
            assert re.fullmatch(r"<[a-z_]+>", repr(event))


def test_no_command_shows_a_token_a_passcode_or_talk() -> None:
    for command in (
        c.Create(name="Ada", rules={}, passcode="geheim", token=GEHEIM, key="geheim"),
        c.Join(room="R", name="Ada", passcode="geheim", token=GEHEIM),
        c.Resume(room="R", token=GEHEIM),
        c.Watch(room="R", name="Ada", passcode="geheim"),
        c.Look(room="R", passcode="geheim"),
        c.Configure(passcode="geheim"),
        c.Say(text="geheim", key="geheim"),
    ):
        assert GEHEIM not in printed(command)


def test_no_refusal_shows_a_secret() -> None:
    refusals = 0
    for seed in range(6):
        chance = random.Random(seed)
        table = Table(seed=seed, variant="scopa", target=3)
        for _ in range(300):
            refusal = _refusal(table, chance)
            if refusal is not None:
                refusals += 1
                _shows_nothing(refusal, table.room)
    assert refusals > 50


def _refusal(table: Table, chance: random.Random) -> Refused | None:
    try:
        stir(table, chance)
    except Refused as refusal:
        return refusal
    return None


def _shows_nothing(refusal: Refused, room: Room) -> None:
    text = f"{printed(refusal)} {refusal.args} {refusal.message}"
    assert not CARD.search(text)
    assert not any(secret in f"{text} {refusal.details}" for secret in secrets(room))
    # Details name cards on the table alone.
    lying = set(room.deal.table) if room.deal else set()
    assert set(CARD.findall(str(refusal.details))) <= lying


def test_no_exception_of_ours_shows_what_it_read() -> None:
    with pytest.raises(ImpossibleEvent) as impossible:
        phase_after("lobby", e.Shuffled(shuffle=Shuffle(deck=DECK, salt="5a1t" * 16)))
    with pytest.raises(e.UnreadableLog) as unreadable:
        e.read_events(b'{"v":1,"events":[{"type":"shuffled","shuffle":{"salt":"5a1t"}}]}')
    with pytest.raises(e.UnreadableLog) as broken:
        load(b'{"v":1,"room":{"code":"R","passcode":["5a1t"]}}')
    for caught in (impossible, unreadable, broken):
        assert "5a1t" not in printed(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_header_shows_nothing() -> None:
    kept = read_header(header(Table().fill().room))
    assert isinstance(kept, Header)
    assert kept.tokens
    assert printed(kept) == "<Header> <Header> [<Header>]"


def test_what_decides_is_exported() -> None:
    assert all(hasattr(deciding, name) for name in deciding.__all__)
