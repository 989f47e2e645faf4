"""Nobody sees in: every line of a real gateway, in every preset, and what the server writes."""

import io
import random
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import pytest
from websockets.exceptions import ConnectionClosed

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Joined
from scopa_protocol.views import View
from scopa_server.logs import logging_to
from scopa_server.room.state import Room
from scopa_server.room.tokens import token_hash
from scopa_server.rules.cards import DECK
from scopa_server.rules.presets import PRESETS
from support.eavesdrop import CARD, Truth, overhear
from support.front import Front, front
from support.house import House
from support.player import Player
from support.seated import shown
from support.tables import NAMES, token

PASSCODE: Final = "apriti-sesamo"
DEALS: Final = 2
MOST_STEPS: Final = 400
EVERYTHING: Final = {"joined", "update", "error", "history"}


@dataclass
class Gathering:
    """People around a table, and who else listens; each line with the seat that it may see."""

    served: Front
    chance: random.Random
    stack: AsyncExitStack
    code: str = ""
    lines: list[tuple[Player, int | None]] = field(default_factory=list[tuple[Player, int | None]])

    async def line(self, viewer: int | None) -> Player:
        """One more connection."""
        codec = MSGPACK if len(self.lines) % 2 else JSON
        player = await self.stack.enter_async_context(Player(self.served.url, codec=codec))
        self.lines.append((player, viewer))
        return player

    @property
    def seated(self) -> list[Player]:
        """Those who play, each by the newest line of its seat."""
        newest = {viewer: player for player, viewer in self.lines if viewer is not None}
        return [newest[seat] for seat in sorted(newest)]

    async def open(self, variant: str) -> None:
        """Everybody sits down, a bot too where there is room, and somebody watches."""
        host = await self.line(0)
        joined = await host.do(
            c.Create(
                name=NAMES[0],
                rules={"variant": variant, "target": 101},
                settings={"pace_ms": 0, "watchers": "table", "talk": "always"},
                passcode=PASSCODE,
                token=token(0),
            )
        )
        assert isinstance(joined, Joined), joined
        self.code = joined.room
        seats = len(joined.view.seats)
        for seat in range(1, seats if seats == 2 else seats - 1):
            person = await self.line(seat)
            await person.join(
                self.code, NAMES[seat], seat=seat, passcode=PASSCODE, token=token(seat)
            )
        if seats > 2:
            await host.do(c.SeatBot(seat=seats - 1))
        await self.watch("Ugo")
        await host.do(c.Start())
        await self.meet()

    async def watch(self, name: str) -> None:
        """Somebody watches; it may be one of those who play."""
        watcher = await self.line(None)
        await watcher.do(c.Watch(room=self.code, name=name, passcode=PASSCODE))

    async def resume(self, seat: int) -> None:
        """A seat's person comes on another line as well."""
        again = await self.line(seat)
        await again.resume(self.code, token(seat))

    async def meet(self) -> None:
        """Everybody hears what there is to hear."""
        for player, _ in self.lines:
            await player.do(c.Ping())

    async def pry(self) -> None:
        """Everybody tries what isn't theirs to do, and asks for what isn't over."""
        for player, _ in self.lines:
            if player.view is None:
                continue
            await player.do(self.chance.choice(tries(shown(player), self.chance)))
            await player.do(c.History())

    async def strangers(self) -> None:
        """Who knows the code alone."""
        stranger = await self.line(None)
        await stranger.do(c.Look(room=self.code, passcode=PASSCODE))
        for wrong in (
            c.Join(room=self.code, name="Eva", passcode="no"),
            c.Watch(room=self.code, name="Eva"),
            c.Resume(room=self.code, token="e" * 32),
            c.Look(room=self.code, passcode="no"),
            c.Play(deal=1, turn=1, card="7D", take=[]),
        ):
            await stranger.do(wrong)

    async def step(self) -> bool:
        """Let somebody whose move it is make it; whether there was anybody."""
        for player in self.seated:
            move = player.next_move(self.chance)
            if move is not None:
                await player.do(move)
                return True
        return False

    async def rescore(self) -> None:
        """Between two deals somebody proposes other rules, and the others answer."""
        await self.meet()
        asker, *others = self.seated
        capped = 4 + len(shown(asker).deals)
        await asker.do(c.Propose(rules={"napola": "run", "napola_cap": capped}))
        await self.meet()
        proposal = shown(asker).proposal
        assert proposal is not None
        for other in others:
            await other.do(c.Answer(proposal=proposal.id, agree=True))

    async def play(self) -> None:
        """Some deals, with all the prying there is."""
        rescored = 0
        for step in range(MOST_STEPS):
            await self.meet()
            host = shown(self.seated[0])
            if host.phase == "deal_over" and len(host.deals) > rescored:
                rescored += 1
                await self.rescore()
                if rescored == DEALS:
                    break
            if step == 9:
                await self.watch("Anna's other")
                await self.resume(1)
                await self.strangers()
            if step % 7 == 3:
                await self.pry()
            await self.step()
        await self.pry()
        assert rescored == DEALS
        await self.part()

    async def part(self) -> None:
        """In the middle of the next deal one is shown out, the match ended, and the host goes."""
        host, *_ = self.seated
        for player in self.seated:
            await player.do(c.Ready(deal=shown(host).deal))
        await self.pry()
        for command in (c.Unseat(seat=1, name=NAMES[1]), c.EndMatch(), c.Leave()):
            await host.do(command)
        for player, viewer in self.lines:
            if viewer in (0, 1):
                await to_the_end(player)


async def to_the_end(player: Player) -> None:
    """Hear what still comes until the server closes, and how it does."""
    with suppress(ConnectionClosed):
        while True:
            await player.receive()


def tries(view: View, chance: random.Random) -> list[c.Command]:
    """What this end may not do, whatever it holds."""
    deal, turn = view.deal, view.turn
    card = chance.choice([card for card in DECK if card not in (view.hand or [])])
    unheld: list[c.Command] = [
        c.Play(deal=deal, turn=turn, card=card, take=take) for take in ([], view.table[:1])
    ]
    return [
        *(unheld * 3),
        c.Play(deal=deal, turn=turn + 1, card=card, take=[]),
        c.Declare(deal=deal, batch=view.batch + 1, kind="low"),
        c.Answer(proposal=99, agree=True),
        c.Propose(rules={"napola": "huge"}),
        c.Ready(deal=deal + 1),
        *([c.FirstCard(deal=deal, keep=True)] if view.first_card is None else []),
    ]


@asynccontextmanager
async def gathering(variant: str) -> AsyncGenerator[Gathering]:
    """A table of a preset, begun."""
    async with front(House(seed=len(variant))) as served, AsyncExitStack() as stack:
        people = Gathering(served, random.Random(variant), stack)
        await people.open(variant)
        yield people


@pytest.mark.parametrize("variant", [*PRESETS])
async def test_no_line_brings_what_its_end_may_not_know(variant: str) -> None:
    written = io.StringIO()
    with logging_to(written, "debug", "json"):
        async with gathering(variant) as people:
            await people.play()
            rules = shown(people.seated[0]).rules
            truth = Truth(rules.players, rules.sides, rules.hand)
            truth.read(people.served.house.journal.logs[people.code])
            tokens = [token(seat) for seat in range(len(people.seated))]
            never = [*tokens, *map(token_hash, tokens), PASSCODE]
            kinds = [overhear(player, viewer, truth, never) for player, viewer in people.lines]
            metrics = people.served.house.metrics.render().decode()
    assert all(kind >= EVERYTHING for kind in kinds if "joined" in kind)
    assert any("room" in kind for kind in kinds)
    assert sum("bye" in kind for kind in kinds) > 2
    for text in (written.getvalue(), metrics):
        assert "room_opened" in text or "scopa_commands_total" in text
        assert not CARD.search(text)
        assert not any(secret in text for secret in never)
        assert not any(salt in text for moment in truth.moments for salt in moment.secrets)
        assert people.code not in metrics


class Ours(Exception):
    """A fault of which the log tells the words."""

    __module__ = "scopa_server.room"


@pytest.mark.parametrize("kind", [LookupError, Ours])
@pytest.mark.parametrize("form", ["json", "pretty"])
async def test_a_fault_in_the_middle_of_a_deal_shows_nothing(
    form: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    secrets: list[str] = []

    def faulty(room: Room, *_: object) -> None:
        assert room.deal is not None
        assert room.shuffle is not None
        secrets.extend((room.shuffle.salt, *map(token_hash, (token(0), token(1)))))
        raise kind(room.deal.hands, room.shuffle.salt, token(0), secrets[-1])

    with logging_to(written, "debug", form):
        async with gathering("cirulla") as people:
            host = people.seated[0]
            with monkeypatch.context() as patch:
                patch.setattr("scopa_server.live.table.decide", faulty)
                for command in (c.Pause(), c.Play(deal=1, turn=1, card="7D", take=["7C"])):
                    assert await host.error(command) == "internal_error"
            assert not CARD.search(host.raw[-1].decode())
            await host.do(c.Pause())
            await people.part()
    text = written.getvalue()
    assert text.count("room_fault") == 2
    assert kind.__name__ in text
    assert not CARD.search(text)
    assert not any(secret in text for secret in (*secrets, token(0), token(1), PASSCODE))
