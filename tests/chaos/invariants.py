"""What must hold after every fault, read from the store's log itself."""

from collections import Counter
from typing import Final

from scopa_protocol.codec import JSON
from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import View
from scopa_server.journal.interface import Commit
from scopa_server.room import events as e
from scopa_server.room.apply import advance
from scopa_server.room.project import Scene, project
from scopa_server.room.state import Room
from support.player import Player

from .people import LOST, plain
from .stage import Stage
from .table import Table

TRIES: Final = 200
NOBODY: Final = Scene(log="")


class History:
    """A room's log, folded: what each seat sees after each commit."""

    def __init__(self, code: str, commits: list[Commit]) -> None:
        self.rooms: dict[int, Room] = {}
        self.plays: list[tuple[int, int, str]] = []
        room = Room(code=code)
        for commit in commits:
            events = e.read_events(commit.payload)
            before = room
            room = advance(room, commit.number, commit.at, events)
            self.rooms[commit.number] = room
            for event in events:
                if isinstance(event, e.Played) and before.deal is not None:
                    self.plays.append((before.deal_number, before.deal.turn, event.play.card))
        self.latest = room

    def view(self, seq: int, seat: int | None) -> View | None:
        """What a seat sees after a commit, as it comes over the wire; None: no such commit."""
        room = self.rooms.get(seq)
        if room is None:
            return None
        sent = Update(seq=seq, events=[], view=project(room, seat, NOBODY))
        back = JSON.decode_frame(JSON.encode(sent))
        assert isinstance(back, Update)
        return plain(back.view)


async def nothing_gone_or_doubled(stage: Stage, table: Table) -> list[str]:
    """Everything that anybody was shown is in the log as it was shown, each play once."""
    shown, accepted = dict(table.shown), _accepted(table)
    history = History(table.code, await stage.log(table.code))
    found = list(table.contradictions)
    for (seat, log, seq), view in shown.items():
        if table.is_forgiven(log, seq):
            continue
        differing = _differing(history.view(seq, seat), view)
        if differing:
            found.append(f"seat {seat} was shown {seq} otherwise than the log has it: {differing}")
    counted = Counter(history.plays)
    found += [f"{play} is there {times} times" for play, times in counted.items() if times > 1]
    gone = [play for play in accepted if play not in counted]
    found += [f"{play} was accepted and is gone" for play in gone]
    return [f"{table.code}: {each}" for each in found]


def _differing(known: View | None, shown: View) -> str:
    """Names of the fields in which two views differ; values may be secret."""
    if known is None:
        return "it isn't there"
    names = shown.__struct_fields__
    return ", ".join(name for name in names if getattr(known, name) != getattr(shown, name))


def _accepted(table: Table) -> list[tuple[int, int, str]]:
    return [
        (accepted.play.deal, accepted.play.turn, accepted.play.card)
        for person in table.people
        for accepted in person.accepted
        if accepted.answered >= table.lost_until
    ]


async def all_agree(stage: Stage, table: Table) -> list[str]:
    """Every seat and a watcher see on every server what the log says, once nobody moves."""
    for _ in range(TRIES):
        history = History(table.code, await stage.log(table.code))
        seen = [
            (door, seat, await _looked(table, url, seat))
            for door, url in enumerate(stage.urls)
            for seat in (0, 2, None)
        ]
        if {view.seq for _, _, view in seen if view is not None} <= {history.latest.seq}:
            break
    seq = history.latest.seq
    return [
        f"{table.code}: seat {seat} sees another table at server {door}"
        for door, seat, view in seen
        if view is None or plain(view) != history.view(seq, seat)
    ]


async def _looked(table: Table, url: str, seat: int | None) -> View | None:
    player = Player(url)
    try:
        async with player:
            answer = await player.do(table.look() if seat is None else table.resume(seat))
            return answer.view if isinstance(answer, Joined) else None
    except LOST:
        return None
