"""Faults of clients: two at once for a seat, frames doubled, swapped and late, dead lines."""

import asyncio
import random
from collections.abc import Sequence
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.codes import RETRYABLE, ErrorCode
from scopa_protocol.frames import Error, Joined, ServerFrame, Update
from support.player import Player

from .scene import Fault, Scene
from .table import Table

LATE: Final = frozenset({ErrorCode.STALE, ErrorCode.NOT_YOUR_TURN, ErrorCode.WRONG_PHASE})


class Hands:
    """Extra lines of a table's people, one through each door; the people themselves rest."""

    def __init__(self, table: Table, urls: Sequence[str], seed: int) -> None:
        self._table = table
        self._urls = urls
        self.lines: dict[int, list[Player]] = {}
        self.chance = random.Random(seed)
        self.played: list[tuple[int, c.Play]] = []

    async def __aenter__(self) -> "Hands":
        self._table.rest()
        for seat in (0, 2):
            self.lines[seat] = [await self._line(url, seat) for url in self._urls]
        return self

    async def _line(self, url: str, seat: int) -> Player:
        player = await Player(url).__aenter__()
        answer = await player.do(self._table.resume(seat))
        assert isinstance(answer, Joined), answer
        return player

    async def __aexit__(self, *_: object) -> None:
        for player in self.all:
            await player.socket.close()
        self._table.rest(False)

    @property
    def all(self) -> list[Player]:
        """Every line."""
        return [player for players in self.lines.values() for player in players]

    async def turn(self) -> int:
        """Move on until a person is to play, at every line; whose turn it is."""
        while True:
            await self._level()
            views = {seat: players[0].view for seat, players in self.lines.items()}
            view = views[0]
            assert view is not None
            if view.phase == "match_over":
                await self.lines[0][0].do(c.Start())
                continue
            for seat, players in self.lines.items():
                move = players[0].next_move(self.chance)
                if isinstance(move, c.Play):
                    return seat
                if move is not None:
                    await players[0].do(move)
                    break
            else:
                await self.lines[0][0].receive()

    async def _level(self) -> None:
        """Let every line see what the furthest has seen."""
        top = max(player.view.seq for player in self.all if player.view)
        for player in self.all:
            while player.view is None or player.view.seq < top:
                await player.receive()


async def race(scene: Scene) -> None:
    """Each play is sent through both servers at once: the same, or two that contradict."""
    urls = scene.stage.urls
    twins = urls if len(urls) > 1 else urls * 2
    outcomes = {"same": 0, "differing": 0}
    async with Hands(scene.tables[0], twins, scene.stage.seed) as hands:
        for number in range(8 * scene.scale.plays):
            seat = await hands.turn()
            first, other = hands.lines[seat]
            plays = [first.choice(hands.chance), other.choice(hands.chance)]
            if number % 2:
                plays[1] = plays[0]
            answers = await asyncio.gather(insist(first, plays[0]), insist(other, plays[1]))
            same = plays[0] == plays[1]
            outcomes["same" if same else "differing"] += 1
            judge(answers, same)
    scene.note(f"raced on every turn: {outcomes}")
    scene.begin()
    await scene.recover()


async def insist(line: Player, play: c.Play) -> ServerFrame:
    """Send a play until it is answered for good; a busy machine's store may be away a moment."""
    while True:
        answer = await line.do(play)
        if not (isinstance(answer, Error) and answer.code in RETRYABLE):
            return answer


def judge(answers: Sequence[ServerFrame], same: bool) -> None:
    """Of one play both are told that it is so; of two exactly one is made."""
    made = [answer for answer in answers if isinstance(answer, Update)]
    assert len(made) == (2 if same else 1), answers
    for answer in answers:
        late = isinstance(answer, Error) and answer.code in LATE
        assert late or isinstance(answer, Update), answers


async def disorder(scene: Scene) -> None:
    """Frames come twice, in the wrong order, and late: nothing is played twice."""
    async with Hands(scene.tables[0], scene.stage.urls[:1], scene.stage.seed) as hands:
        done: dict[int, c.Play] = {}
        for _ in range(4 * scene.scale.plays):
            seat = await hands.turn()
            line = hands.lines[seat][0]
            play = line.choice(hands.chance)
            early = c.Play(deal=play.deal, turn=play.turn + 4, card=play.card, take=play.take)
            frames = [early, play, play, *([done[seat]] if seat in done else [])]
            sent = [await line.send(frame) for frame in frames]
            answers = [await answer_to(line, number) for number in sent]
            assert isinstance(answers[0], Error)
            assert isinstance(answers[1], Update)
            assert isinstance(answers[2], Update)
            done[seat] = play
    scene.begin()
    await scene.recover()


async def answer_to(player: Player, number: int) -> ServerFrame:
    """The frame that answers a command, come already or to come."""
    while True:
        for frame in player.frames:
            re = getattr(frame, "re", None)
            if re == number or (isinstance(re, list) and number in re):
                return frame
        await player.receive()


async def vanish(scene: Scene) -> None:
    """People's lines go dead unseen, and they come back elsewhere before the server knows."""
    door = scene.stage.doors[0]
    scene.begin()
    door.black_hole(new_ones=False)
    for table in scene.tables:
        for person in (*table.people, *table.watchers):
            if person.player is not None and person.player.url.startswith(scene.stage.urls[0]):
                person.lose_line()
    await scene.recover()
    await scene.go_on()
    door.heal()


FAULTS: Final = (
    Fault("both servers decide at once", race),
    Fault("frames doubled, swapped, late", disorder),
    Fault("line dead, back elsewhere at once", vanish),
    Fault("two lines decide at once (SQLite)", race, sqlite=True, again=True),
    Fault("frames doubled, swapped (SQLite)", disorder, sqlite=True, again=True),
)
