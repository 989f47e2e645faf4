"""The same table on other people's game servers (bench/peers/), over their own protocols.

Which cards are dealt and played is fixed beforehand, so that the load needs to read no more of what
comes than whether it is the next update.
"""

import asyncio
import json
import random
import shutil
import urllib.request
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct
from picows import WSMsgType

from scopa_server.rules import captures
from scopa_server.rules import deal as deals
from scopa_server.rules.cards import DECK

from .contenders import Contender, Start
from .line import PATIENCE, Broken
from .machine import Cores
from .processes import Program
from .rules import RULES
from .table import SEATS, Table

FOLDER: Final = Path(__file__).parents[1] / "peers"
DEALS: Final = 48
"""Deals after which the first comes again: a multiple of four, as dealers go round."""


class Card(Struct, frozen=True):
    """A card that is played: by which seat, taking what, as which of its deal."""

    seat: int
    card: str
    take: list[str]
    turn: int


def dealt() -> tuple[list[list[str]], list[Card]]:
    """The decks, and every card that is played of them."""
    chance = random.Random(11)
    decks, played = [], []
    for number in range(DEALS):
        deck = list(DECK)
        chance.shuffle(deck)
        decks.append(deck)
        played += _played(number, deck, chance)
    return decks, played


def _played(number: int, deck: list[str], chance: random.Random) -> list[Card]:
    deal, found = deals.begin(RULES, number % SEATS, deck), []
    while deal.to_play is not None:
        options = captures.listing(RULES, deal.hands[deal.to_play], deal.table)
        card, sets = chance.choice(list(options.items()))
        take = chance.choice(sets) if sets else ()
        found.append(Card(deal.to_play, card, list(take), deal.turn))
        deal = deals.play(deal, deals.outcome(deal, card, take))
    return found


class PeerTable(Table):
    """Four connections at a peer; plays what is written down."""

    def __init__(self, plays: Sequence[Card]) -> None:
        super().__init__()
        self._plays = plays
        self._at = 0
        self._since = 0.0
        self._left = SEATS
        self._opening: asyncio.Event = asyncio.Event()

    @property
    def next_is_play(self) -> bool:
        """Every command is a play: a peer deals by itself."""
        return True

    def step(self, since: float) -> None:
        """Play the next card."""
        self._since, self._left = since, SEATS
        play = self._plays[self._at]
        self._at = (self._at + 1) % len(self._plays)
        self._send(play)

    @abstractmethod
    def heard(self, seat: int, data: memoryview) -> None:
        """A frame came to a seat."""

    @abstractmethod
    def _send(self, play: Card) -> None:
        """Send a play as the peer's own client would."""

    def _updated(self, turn: int | None) -> None:
        """A seat got an update. `turn`: whose number it says is next, where that can be read."""
        if turn is not None and turn != self._plays[self._at].turn:
            raise Broken(f"a peer is at card {turn} of the deal and should be elsewhere")
        self._left -= 1
        if self._left < 0:
            raise Broken("a peer sent more updates than plays were made")
        if not self._left:
            if self._opening.is_set():
                self.finished(self, self._since, True)
            else:
                self._opening.set()

    async def _opened(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._opening.wait()


class _Game(Struct, frozen=True):
    turn: int


class _State(Struct, frozen=True):
    G: _Game
    state_id: int = msgspec.field(name="_stateID")


_UPDATE: Final = msgspec.json.Decoder(tuple[str, str, _State, Raw])


class Boardgame(PeerTable):
    """A match on boardgame.io, over socket.io."""

    _SPACE: Final = b"/scopone,"

    def __init__(self, plays: Sequence[Card], keys: Sequence[str] = ()) -> None:
        super().__init__(plays)
        self._match = ""
        self._keys = list(keys)
        self._state_id = 0

    async def open(self, url: str) -> None:
        """Create a match, join it as four, connect and synchronise."""
        lobby = url.replace("ws:", "http:") + "/games/scopone"
        self._match = (await post(f"{lobby}/create", {"numPlayers": SEATS}))["matchID"]
        for seat in range(SEATS):
            body = {"playerID": str(seat), "playerName": f"Player {seat}"}
            answer = await post(f"{lobby}/{self._match}/join", body)
            self._keys.append(answer["playerCredentials"])
        for seat in range(SEATS):
            path = f"{url}/socket.io/?EIO=4&transport=websocket"
            await self.connect(path, partial(self.heard, seat))
        await self._opened()

    def heard(self, seat: int, data: memoryview) -> None:
        """A packet of engine.io came to a seat."""
        self.received += len(data)
        head = bytes(data[:24])
        if head.startswith(b'42/scopone,["update"'):
            state = _UPDATE.decode(data[11:])[2]
            self._state_id = state.state_id
            self._updated(state.G.turn)
        elif head.startswith(b"0"):
            self._say(seat, b"40" + self._SPACE)
        elif head.startswith(b"40"):
            self._emit(seat, ["sync", self._match, str(seat), self._keys[seat], SEATS])
        elif head.startswith(b'42/scopone,["sync"'):
            self._updated(1)
        elif head == b"2":
            self._say(seat, b"3")
        elif not head.startswith(b'42/scopone,["matchData'):
            raise Broken("boardgame.io says what isn't expected")

    def _send(self, play: Card) -> None:
        seat = str(play.seat)
        payload = {
            "type": "play",
            "args": [play.card, play.take],
            "playerID": seat,
            "credentials": self._keys[play.seat],
        }
        action = {"type": "MAKE_MOVE", "payload": payload}
        self._emit(play.seat, ["update", action, self._state_id, self._match, seat])

    def _emit(self, seat: int, event: list[Any]) -> None:
        self._say(seat, b"42" + self._SPACE + msgspec.json.encode(event))

    def _say(self, seat: int, data: bytes) -> None:
        self.lines[seat].send(WSMsgType.TEXT, data)


JOIN_ROOM: Final = 10
ROOM_DATA: Final = 13
ROOM_STATE: Final = 14
ROOM_STATE_PATCH: Final = 15


class _View(Struct, frozen=True):
    turn: int


_VIEW: Final = msgspec.msgpack.Decoder(_View)
_VIEW_AT: Final = len(bytes([ROOM_DATA]) + msgspec.msgpack.encode("view"))


class Colyseus(PeerTable):
    """A room on Colyseus. `schema`: it is shown by patches of the state, not by messages."""

    def __init__(self, plays: Sequence[Card], *, schema: bool) -> None:
        super().__init__(plays)
        self._ready_at: Final = ROOM_STATE if schema else JOIN_ROOM

    async def open(self, url: str) -> None:
        """Create a room, join it as four, connect, and say that all are ready."""
        match = url.replace("ws:", "http:") + "/matchmake"
        first = await post(f"{match}/create/scopone", {})
        room = first["room"]
        others = [f"{match}/joinById/{room['roomId']}"] * (SEATS - 1)
        seats = [first, *[await post(other, {}) for other in others]]
        for number, seat in enumerate(seats):
            path = f"{url}/{room['processId']}/{room['roomId']}?sessionId={seat['sessionId']}"
            await self.connect(path, partial(self.heard, number))
        await self._opened()

    def heard(self, seat: int, data: memoryview) -> None:
        """A frame came to a seat."""
        self.received += len(data)
        kind = data[0]
        if kind == JOIN_ROOM:
            self.lines[seat].send(WSMsgType.BINARY, bytes([JOIN_ROOM]))
        if kind == self._ready_at:
            ready = bytes([ROOM_DATA]) + msgspec.msgpack.encode("ready")
            self.lines[seat].send(WSMsgType.BINARY, ready)
        elif kind == ROOM_DATA:
            self._updated(_VIEW.decode(data[_VIEW_AT:]).turn)
        elif kind == ROOM_STATE_PATCH:
            self._updated(None)
        elif kind != JOIN_ROOM:
            raise Broken("Colyseus says what isn't expected")

    def _send(self, play: Card) -> None:
        move = msgspec.msgpack.encode({"card": play.card, "take": play.take})
        data = bytes([ROOM_DATA]) + msgspec.msgpack.encode("play") + move
        self.lines[play.seat].send(WSMsgType.BINARY, data)


async def post(url: str, body: object) -> Any:
    """What a peer answers to a request."""
    request = urllib.request.Request(  # noqa: S310
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )

    def asked() -> Any:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    return await asyncio.to_thread(asked)


def peer(name: str, program: str, make: Callable[[Sequence[Card]], Table]) -> Start:
    """How a peer is started."""

    def started(folder: Path, cores: Cores, _: object) -> Contender:
        if (
            shutil.which("node") is None
            or not (FOLDER / program).with_name("node_modules").is_dir()
        ):
            raise Broken(f"{name} needs Node.js and what it depends on: run make bench-peers")
        decks, plays = dealt()
        folder.mkdir(parents=True)
        (folder / "decks").write_text(json.dumps(decks))
        words: list[str | Path] = ["node", FOLDER / program, folder / "decks"]
        server = Program(words, folder, cores.server, NODE_ENV="production")
        port = server.says("port").rpartition(" ")[2]
        return Contender(
            name=name,
            url=f"ws://127.0.0.1:{port}",
            server=server,
            make=lambda _: make(plays),
            load_cores=cores.load,
        )

    return started


PEERS: Final[dict[str, Start]] = {
    name: peer(name, program, make)
    for name, program, make in (
        ("boardgame.io", "boardgame/server.mjs", Boardgame),
        ("Colyseus, messages", "colyseus/messages.mjs", partial(Colyseus, schema=False)),
        ("Colyseus, schema", "colyseus/schema.mjs", partial(Colyseus, schema=True)),
    )
}
"""The peers there are, all in memory, by name."""
