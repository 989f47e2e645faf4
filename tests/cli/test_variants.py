"""`scopa variants`, and a room's rules before one sits down."""

import asyncio
import json

import pytest
from msgspec import structs

from scopa_cli.__main__ import main
from scopa_cli.screens import house
from scopa_protocol.explained import RULES, VARIANTS
from scopa_protocol.presets import PRESETS
from scopa_protocol.rules import Rules
from scopa_server.rules.record import build
from support.fake_server import Peer, fake_server
from support.server_frames import HELLO, a_room, lobby
from support.shown import text


@pytest.mark.parametrize("name", PRESETS)
def test_a_variant_differs_in_nothing_from_itself(name: str) -> None:
    played = build(name, {})
    rules = Rules(**{field.name: getattr(played, field.name) for field in structs.fields(Rules)})
    assert house.own(rules) == {}


def test_a_rooms_own_rules_are_told_in_words() -> None:
    rules = Rules(
        variant="escoba",
        capture="fifteen",
        void_deal="never",
        opening_sweep=True,
        target=31,
        napola="run",
        must_capture=False,
        deck="french",
    )
    room = a_room(lobby("Anna", None, rules=rules))
    assert text(house.room(room, 80)) == (
        "── Room KRTNWXYZ: escoba, 2 players, to 31 ──\n"
        "The Spanish fifteen: an opening table of fifteen or thirty is swept by the\n"
        "dealer at once. To 21.\n"
        "Here it differs from Escoba as usual:\n"
        "  deck=french\n"
        "      What the cards 8, 9 and 10 are called and how suits are drawn: jack,\n"
        "      queen, king; coins are diamonds, cups hearts, clubs the clubs.\n"
        "  must_capture=false\n"
        "      Not played here: a card that can take something must. Off: it may be laid\n"
        "      on the table instead.\n"
        "  napola=run\n"
        "      Ace, two and three of coins in one pile: worth the length of the unbroken\n"
        "      run from the ace.\n"
        "  target=31\n"
        "      The score that wins, if it is alone at the top, 1 to 101.\n"
        "At the table: Anna."
    )
    assert "differs" not in text(house.room(a_room(lobby()), 80))
    unknown = a_room(lobby(rules=Rules(variant="of_tomorrow", grande=True)))
    assert "Here it differs from the plain game as usual:" in text(house.room(unknown, 80))


def test_every_variant_and_every_rule_is_listed() -> None:
    shown = text(house.variants(["scopa", "of_tomorrow"], 80))
    assert all(variant.name in shown for variant in VARIANTS)
    assert "scopa\n    The game" in shown
    assert "escoba  (not played by this server)" in shown
    assert "of_tomorrow  (newer than this client)" in shown
    assert "not played" not in text(house.variants(None, 80))
    rules = text(house.every_rule("scopone", 80))
    for rule in RULES:
        assert rule.field == "variant" or f"{rule.field}=" in rules
    assert "players=4" in rules
    assert "hand=9" in rules
    assert "sides=2" in rules
    assert "grande=false (or true)" in rules
    assert max(map(len, rules.splitlines())) <= 80


@pytest.mark.parametrize("name", PRESETS)
def test_each_variant_is_explained_in_full(name: str) -> None:
    shown = text(house.variant(name, 80))
    assert all(f"{field}=" in shown for field in PRESETS[name].overrides)
    assert f"({name})" in shown


def test_without_a_server_the_client_says_what_it_knows(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert main(["variants", "--offline"]) == 0
    assert b"cirulla\n    The Genoese game" in capfdbinary.readouterr().out
    assert main(["variants", "cirulla", "--server", "127.0.0.1:1"]) == 0
    both = capfdbinary.readouterr()
    assert b"For 2 to 4 players" in both.out
    assert b"nothing listens there. What follows is what this client knows" in both.err
    assert main(["variants", "nonsense", "--offline"]) == 2
    assert b"Known are: scopa," in capfdbinary.readouterr().err
    assert main(["variants", "--server", "ftp://x"]) == 2


async def test_the_servers_variants_are_marked(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    async def greets(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.gone()

    async with fake_server(greets, greets) as server:
        words = ["variants", "--server", server.endpoint]
        assert await asyncio.to_thread(main, [*words, "--json"]) == 0
        data = json.loads(capfdbinary.readouterr().out)
        assert data["server"] == HELLO.variants
        assert {one["name"] for one in data["variants"]} == set(PRESETS)
        assert await asyncio.to_thread(main, [*words, "escoba"]) == 0
        assert b"This server doesn't play it." in capfdbinary.readouterr().out
