"""One example of everything that goes over the wire, and views to put into frames."""

from typing import Any, Final, get_args

import msgspec

from scopa_protocol import commands, events, frames, history, views
from scopa_protocol.rules import Rules
from scopa_protocol.settings import Settings

TOKEN: Final = "s3cret-Token_0123456789abcdef"
DECK: Final = [f"{value}{suit}" for suit in "DCSB" for value in range(1, 11)]


def seat_view(seat: int = 0, **changes: Any) -> views.SeatView:
    """A person's seat in a lobby."""
    plain = views.SeatView(
        seat=seat,
        name="Anna",
        kind="person",
        online=True,
        away=False,
        stand_in=False,
        reserved=None,
        side=seat % 2,
        cards=0,
        ready=False,
        revealed=None,
    )
    return msgspec.structs.replace(plain, **changes)


def view(**changes: Any) -> views.View:
    """A lobby with one person in it, as that person sees it."""
    plain = views.View(
        room="KRTNWXYZ",
        log="9f2c",
        seq=1,
        phase="lobby",
        paused_by=None,
        passcode=False,
        rules=Rules(),
        settings=Settings(),
        host=0,
        you=0,
        seats=[seat_view()],
        watchers=[],
        sides=[],
        match=0,
        deal=0,
        batch=0,
        dealer=None,
        turn=0,
        to_play=None,
        clock=None,
        table=[],
        stock=0,
        hand=None,
        options=None,
        options_cut=False,
        declarations=[],
        first_card=None,
        matta=None,
        recent=[],
        gone=None,
        deals=[],
        count=None,
        matches=[],
        winner=None,
        proposal=None,
        commitment=None,
    )
    return msgspec.structs.replace(plain, **changes)


COUNT: Final = views.Count(
    deal=3,
    sides=[
        views.SideCount(
            cards=22,
            coins=6,
            primiera=78,
            scope=1,
            points={"cards": 1, "coins": 1, "scope": 1},
            total=3,
            pile=["7D", "3C", "10B"],
        ),
        views.SideCount(cards=18, coins=4, primiera=None, scope=0, points={}, total=0, pile=["1S"]),
    ],
    totals=[7, 9],
    leftovers=views.LeftoverCards(side=0, cards=["2B"]),
    proof=views.Proof(salt="00" * 32, deck=",".join(DECK)),
)
PROPOSAL: Final = views.Proposal(
    id=1, by=0, rules={"napola": "run", "grande": True}, agreed=[0], waiting=[1], totals=[3, 4]
)
FULL_VIEW: Final = view(
    seq=57,
    phase="playing",
    paused_by=1,
    passcode=True,
    you=1,
    seats=[
        seat_view(0, cards=3, revealed=["1D", "2C", "3S"]),
        seat_view(1, name="Bruno", away=True, stand_in=True, reserved="Carla"),
        seat_view(2, name=None, kind="vacant", online=False),
    ],
    watchers=["Ugo"],
    sides=[views.SideView(side=0, score=7, captured=12, scope=1, scope_cards=["5D"])],
    match=1,
    deal=3,
    batch=2,
    dealer=0,
    turn=17,
    to_play=1,
    clock=views.Clock(kind="turn", left_ms=24_000),
    table=["3C", "7D"],
    stock=18,
    hand=["1D", "4S"],
    options={"1D": [["7D", "3C"]], "4S": []},
    declarations=[views.Declaration(kind="low", matta=1, points=3)],
    first_card="5B",
    matta=views.Matta(value=9, seat=1),
    recent=[
        views.RecentPlay(
            seat=0, card="5D", take=["2C", "3S"], scopa=False, to_pile=True, auto=False
        )
    ],
    gone=["7S"],
    deals=[[3, 1], [2, 4]],
    count=COUNT,
    matches=[views.MatchResult(winner=1, totals=[9, 12], abandoned=False)],
    winner=0,
    proposal=PROPOSAL,
    commitment="ab" * 32,
)

COMMANDS: Final[list[commands.ClientCommand]] = [
    commands.Ping(),
    commands.Look(id=1, room="KRTNWXYZ", passcode="olive"),
    commands.Create(
        id=2,
        name="Anna",
        rules={"variant": "scopa", "target": 21},
        settings={"turn_seconds": 30},
        passcode="olive",
        token=TOKEN,
        key="let me in",
    ),
    commands.Join(id=3, room="KRTNWXYZ", name="Bruno", seat=1, passcode="olive", token=TOKEN),
    commands.Resume(id=4, room="KRTNWXYZ", token=TOKEN),
    commands.Watch(id=5, room="KRTNWXYZ", name="Ugo", passcode="olive"),
    commands.Leave(id=6),
    commands.Sit(id=7, seat=3),
    commands.Arrange(id=8, names=["Anna", None, "Bruno", None]),
    commands.Configure(id=9, rules={"players": 4}, settings={"talk": "off"}, passcode=""),
    commands.SeatBot(id=10, seat=1, level="good"),
    commands.Unseat(id=11, seat=1, name="Bruno"),
    commands.StandIn(id=12, seat=1),
    commands.MakeHost(id=13, seat=1, name="Bruno"),
    commands.Start(id=14),
    commands.EndMatch(id=15),
    commands.FirstCard(id=16, deal=1, keep=False),
    commands.Declare(id=17, deal=1, batch=2, kind="three", matta=9),
    commands.Play(id=18, deal=3, turn=17, card="10B", take=["7D", "3C"]),
    commands.Ready(id=19, deal=3),
    commands.Propose(id=20, rules={"napola": "run"}),
    commands.Answer(id=21, proposal=1, agree=True),
    commands.Pause(id=22),
    commands.Unpause(id=23),
    commands.Say(id=24, text="Scopa!", key="a1"),
    commands.History(id=25, from_deal=3, limit=10),
]

EVENTS: Final[list[events.RoomEvent]] = [
    events.SeatTaken(seat=1, name="Bruno", kind="person"),
    events.SeatLeft(seat=1, name="Bruno"),
    events.Arranged(),
    events.Presence(seat=1, online=False),
    events.Away(seat=1),
    events.Back(seat=1),
    events.WatcherCame(name="Ugo"),
    events.WatcherLeft(name="Ugo"),
    events.HostChanged(seat=1),
    events.Configured(),
    events.MatchStarted(match=1),
    events.DealerDrawn(draws=[(0, "7D"), (1, "3C")], dealer=0),
    events.DealVoided(
        deal=1, table=["10D", "10C", "10S", "1B"], hands=[["1D"], ["2D"]], proof=COUNT.proof
    ),
    events.Dealt(deal=1, batch=1, dealer=0, cards=[3, 3]),
    events.OpeningSwept(side=0, cards=["7D", "8C"], scope=1),
    events.FirstCardOffered(deal=1, dealer=0, seat=1),
    events.FirstCardKept(seat=1),
    events.FirstCardLaid(seat=1, card="5B"),
    events.Declared(seat=1, kind="low", cards=["1D", "2C", "7C"], matta=1, points=3),
    events.Played(seat=1, card="5D", take=["2C", "3S"], scopa=True, to_pile=True, auto=False),
    events.Leftovers(side=1, cards=["4C"]),
    events.DealCounted(count=COUNT),
    events.MatchWon(side=1, totals=[7, 11]),
    events.MatchEnded(),
    events.RulesProposed(proposal=PROPOSAL),
    events.ProposalDropped(),
    events.Rescored(rules=Rules(napola="run"), totals=[3, 4]),
    events.Paused(seat=1),
    events.Unpaused(seat=1),
    events.Said(name="Ugo", seat=None, text="Che mano!"),
    events.StoodIn(seat=1),
]

HISTORY_DEAL: Final = history.HistoryDeal(
    deal=3,
    match=1,
    void=False,
    dealer=1,
    rules=Rules(),
    first_card=history.ShownCard(seat=0, card="5B", kept=True),
    deals=[[["1D", "2D", "3D"], ["4D", "5D", "6D"]]],
    table=["7D", "8D", "9D", "10D"],
    opening_swept=history.SweptOpening(side=1, cards=["7D", "8D"], scope=1),
    declared=[
        history.HandDeclared(
            batch=1, seat=0, kind="low", cards=["1D", "2D", "3D"], matta=None, points=3
        )
    ],
    plays=[(0, "1D", [], False), (1, "4D", ["1D", "3C"], True)],
    count=COUNT,
    proof=COUNT.proof,
)

FRAMES: Final[list[frames.ServerFrame]] = [
    frames.Hello(
        version=1,
        server="scopa-server 0.1.0",
        limits=frames.Limits(
            frame_bytes=16_384, waiting=8, seat_connections=4, name_length=24, say_length=280
        ),
        variants=["scopa", "scopone"],
        bot_levels=["easy", "good"],
        key_needed=False,
    ),
    frames.Pong(re=1, seq=57, log="9f2c"),
    frames.RoomFrame(
        re=2,
        room="KRTNWXYZ",
        rules=Rules(),
        settings=Settings(),
        phase="lobby",
        seats=[seat_view()],
        passcode=False,
    ),
    frames.Joined(
        re=3,
        room="KRTNWXYZ",
        seat=None,
        token=TOKEN,
        invite="wss://scopa.example/KRTNWXYZ",
        talk=[frames.Talk(name="Ugo", seat=None, text="ciao")],
        view=view(),
    ),
    frames.Update(re=[4, 5], seq=57, events=EVENTS, view=FULL_VIEW),
    frames.HistoryFrame(re=7, deals=[HISTORY_DEAL], next=4),
    frames.Error(re=6, code="too_fast", message="Wait a moment", details={"retry_ms": 500}),
    frames.Bye(code="restarting", message="Back in a moment", retry=True),
]


def missing(examples: list[Any], union: Any) -> set[str]:
    """Members of a union that no example stands for."""
    return {kind.__name__ for kind in get_args(union)} - {type(one).__name__ for one in examples}
