"""Killed with -9 after what happens only now and then, or in some variants alone."""

from typing import Any

import pytest
from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.frames import Update
from support.doomed import Table, create, join
from support.server_process import Serve
from support.tables import token

TRIES = 200


async def seated(table: Table, **rules: Any) -> None:
    """Two people at a table of these rules."""
    await table.comes("Anna", replace(create(), rules={"players": 2} | rules), "")
    await table.comes("Bruno", replace(join(), room=table.code), "")


def told(table: Table, kind: str) -> bool:
    """Whether Anna's latest update tells of such an event."""
    updates = [frame for frame in table["Anna"].frames if isinstance(frame, Update)]
    return kind in {str(event.__struct_config__.tag) for event in updates[-1].events}


async def starts_until(table: Table, kind: str) -> None:
    """Begin matches until one begins with such an event; then the server is killed."""
    for _ in range(TRIES):
        await table.does("Anna", c.Start(), "")
        if told(table, kind):
            await table.may_crash(kind, "Anna", c.Start())
            return
        await table.does("Anna", c.EndMatch(), "")
    raise AssertionError(f"{kind} never came")


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("deal_voided", {"variant": "scopa", "hand": 11}),
        ("opening_swept", {"variant": "escoba"}),
        ("first_card_offered", {"variant": "chkobba"}),
    ],
)
async def test_how_a_match_begins(kind: str, rules: dict[str, Any], serve: Serve) -> None:
    async with Table(serve(), None) as table:
        await seated(table, **rules)
        await starts_until(table, kind)
        assert table.killed_after == [kind]


@pytest.mark.parametrize("keep", [True, False])
async def test_a_first_card_kept_or_laid(keep: bool, serve: Serve) -> None:
    async with Table(serve(), None) as table:
        await seated(table, variant="chkobba", void_deal="never")
        await table.does("Anna", c.Start(), "")
        asked = next(name for name in table.people if table.view(name).first_card)
        deal = table.view().deal
        await table.does(asked, c.FirstCard(deal=deal, keep=keep), "first_card")
        await table.plays("")
        assert table.killed_after == ["first_card"]


async def test_a_hand_declared(serve: Serve) -> None:
    async with Table(serve(), None) as table:
        await seated(table, variant="cirulla")
        for _ in range(TRIES):
            await table.does("Anna", c.Start(), "")
            able = [name for name in table.people if table.view(name).declarations]
            if able:
                break
            await table.does("Anna", c.EndMatch(), "")
        view = table.view(able[0])
        one = view.declarations[0]
        declare: Any = {"kind": one.kind, "matta": one.matta}
        command = c.Declare(deal=view.deal, batch=view.batch, **declare)
        await table.does(able[0], command, "declared")
        assert table.view().seats[view.you or 0].revealed == view.hand
        await table.plays("")
        assert table.killed_after == ["declared"]


async def test_a_proposal_dropped_and_one_agreed_to(serve: Serve) -> None:
    async with Table(serve(), None) as table:
        await seated(table, variant="scopa", target=101, void_deal="never")
        await table.does("Anna", c.Start(), "")
        await table.plays_until("deal_over", "")
        table.killed_after.clear()
        propose = c.Propose(rules={"napola": "three"})
        await table.does("Anna", propose, "proposed")
        proposal = table.view().proposal
        assert proposal is not None
        answer = c.Answer(proposal=proposal.id, agree=False)
        await table.does("Bruno", answer, "proposal_dropped")
        await table.does("Anna", propose, "")
        proposal = table.view().proposal
        assert proposal is not None
        await table.does("Bruno", c.Answer(proposal=proposal.id, agree=True), "rescored")
        assert table.view().rules.napola == "three"
        assert table.killed_after == ["proposed", "proposal_dropped", "rescored"]


async def test_a_proposal_that_waits_for_another(serve: Serve) -> None:
    async with Table(serve(), {"agreed"}) as table:
        await seated(table, variant="scopa", players=3, target=101, void_deal="never")
        carla = c.Join(room=table.code, name="Carla", seat=2, token=token(2))
        await table.comes("Carla", carla, "")
        await table.does("Anna", c.Start(), "")
        await table.plays_until("deal_over", "")
        await table.does("Anna", c.Propose(rules={"napola": "three"}), "")
        proposal = table.view().proposal
        assert proposal is not None
        yes = c.Answer(proposal=proposal.id, agree=True)
        await table.does("Bruno", yes, "agreed")
        assert table.view().proposal is not None
        await table.does("Carla", yes, "")
        assert table.view().rules.napola == "three"
        assert table.killed_after == ["agreed"]
