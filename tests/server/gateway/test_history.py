"""Rescoring and history over real connections, in both subprotocols."""

import random
from contextlib import AsyncExitStack

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codec import CODECS
from scopa_protocol.frames import Error, HistoryFrame, ServerFrame
from scopa_protocol.proof import faults
from scopa_protocol.views import View
from support import recount
from support.front import front
from support.player import Player
from support.raw import raw


def view(player: Player) -> View:
    """What a player sees."""
    assert player.view is not None
    return player.view


async def caught_up(players: list[Player]) -> None:
    """Let everybody read up to the latest commit."""
    seq = max(view(player).seq for player in players)
    for player in players:
        while view(player).seq < seq:
            await player.receive()


async def deal_out(players: list[Player], chance: random.Random) -> None:
    """Play to the end of the next deal."""
    begun = view(players[0]).deal
    while view(players[0]).phase != "deal_over" or view(players[0]).deal == begun:
        for player in players:
            move = player.next_move(chance)
            if move is not None:
                frame = await player.do(move)
                assert not isinstance(frame, Error)
                break
        await caught_up(players)


def history(frame: ServerFrame) -> HistoryFrame:
    """A frame that must be history."""
    assert isinstance(frame, HistoryFrame), frame
    return frame


@pytest.mark.parametrize("codec", CODECS.values(), ids=lambda codec: codec.format)
async def test_a_match_is_counted_again_and_told(codec: object) -> None:
    chance = random.Random(3)
    async with front() as served, AsyncExitStack() as stack:
        anna, bruno = [
            await stack.enter_async_context(Player(served.url, codec=one))
            for one in CODECS.values()
        ]
        code = (await anna.host("Anna", variant="asso_piglia_tutto", target=101)).room
        await bruno.join(code, "Bruno")
        await anna.do(c.Start())
        await caught_up([anna, bruno])
        for _ in range(2):
            await deal_out([anna, bruno], chance)
        await anna.do(c.Propose(rules={"ace_scopa": False, "napola": "three"}))
        await caught_up([anna, bruno])
        proposal = view(bruno).proposal
        assert proposal is not None
        await bruno.do(c.Answer(proposal=proposal.id, agree=True))
        await caught_up([anna, bruno])
        asker = anna if codec is anna.codec else bruno
        told = history(await asker.do(c.History()))
        page = history(await asker.do(c.History(from_deal=view(asker).deal, limit=1)))
        assert (told.next, page.next, page.deals[0]) == (None, None, told.deals[-1])
        assert [fault for deal in told.deals for fault in faults(deal)] == []
        counted = [deal for deal in told.deals if not deal.void]
        score = [side.score for side in view(asker).sides]
        assert recount.totals(view(asker).rules, counted)[-1] == score == proposal.totals


async def test_answers_come_in_the_order_of_the_questions() -> None:
    async with front() as served, raw(served.url) as line:
        await line.ask({"type": "create", "id": 1, "name": "Anna", "rules": {}})
        for number in range(2, 9):
            await line.send({"type": "history", "id": number, "limit": 1})
        found = [await line.until("history") for _ in range(2, 9)]
        assert [frame["re"] for frame in found] == list(range(2, 9))
        assert found[0] == {"type": "history", "re": 2, "deals": [], "next": None}
        await line.send({"type": "history"})
        assert "re" not in await line.until("history")


async def test_outside_a_room_there_is_no_history() -> None:
    async with front() as served, raw(served.url) as line:
        assert await line.refused({"type": "history"}) == "not_in_a_room"
        assert await line.refused({"type": "history", "limit": 0}) == "bad_message"
