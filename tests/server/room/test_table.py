"""The table: its rules and settings, the passcode, talk, pauses."""

import random
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.settings import Settings
from scopa_server.room import events as e
from scopa_server.room.decide import open_room
from scopa_server.room.decide.seating import admit_watcher
from scopa_server.room.refused import Refused
from support.tables import NAMES, Table, token

DEEP: Any = []
for _ in range(6):
    DEEP = [DEEP]

BAD_SETTINGS: list[tuple[str, Any]] = [
    ("turn_seconds", 4),
    ("turn_seconds", -1),
    ("turn_seconds", 601),
    ("turn_seconds", 10**40),
    ("turn_seconds", True),
    ("turn_seconds", 7.5),
    ("turn_seconds", "7"),
    ("turn_seconds", None),
    ("turn_seconds", float("nan")),
    ("absent_seconds", float("inf")),
    ("absent_seconds", -(10**40)),
    ("next_deal_seconds", [5]),
    ("next_deal_seconds", DEEP),
    ("watchers", "all"),
    ("watchers", 1),
    ("watchers_talk", 1),
    ("watchers_talk", "true"),
    ("talk", ["always"]),
    ("talk", {"always": True}),
    ("talk", "\x1b[2J"),
    ("hints", None),
    ("pace_ms", 5001),
    ("pace_ms", {}),
    ("passcode", "x"),
    ("", 1),
]
BAD_RULES: list[tuple[str, dict[str, Any]]] = [
    ("players", {"players": 7}),
    ("players", {"players": True}),
    ("players", {"players": 2.0}),
    ("players", {"players": float("nan")}),
    ("players", {"players": 10**40}),
    ("players", {"players": None}),
    ("players", {"players": [2]}),
    ("players", {"players": DEEP}),
    ("sides", {"players": 4, "sides": 3}),
    ("hand", {"hand": 0}),
    ("hand", {"hand": 21}),
    ("target", {"target": "11"}),
    ("must_capture", {"must_capture": 1}),
    ("capture", {"capture": ["sum"]}),
    ("variant", {"variant": "briscola"}),
    ("variant", {"variant": None}),
    ("variant", {"variant": ["scopa"]}),
    ("variant", {"variant": {}}),
    ("briscola", {"briscola": 1}),
    ("opening_sweep", {"variant": "escoba", "hand": 4}),
    ("first_card_choice", {"variant": "chkobba", "sides": 4, "players": 4}),
    ("declare_both", {"declare_both": True}),
    ("matta", {"matta": True}),
]


def lobby(**rules: object) -> Table:
    """A table for two with two people."""
    return Table(seed=1, **{"variant": "scopa", **rules}).fill()


@pytest.mark.parametrize(("field", "value"), BAD_SETTINGS)
def test_wrong_settings_are_refused_by_their_name(field: str, value: Any) -> None:
    table = lobby()
    refusal = table.refused(0, c.Configure(settings={"pace_ms": 1, field: value}))
    assert refusal.code is ErrorCode.BAD_SETTINGS
    assert refusal.details == {"field": field}
    assert "\x1b" not in refusal.message
    with pytest.raises(Refused, match="bad_settings"):
        open_room(c.Create(name="Ada", rules={}, settings={field: value}), token(0), None)


@pytest.mark.parametrize(("field", "rules"), BAD_RULES)
def test_wrong_rules_are_refused_by_their_name(field: str, rules: dict[str, Any]) -> None:
    table = lobby()
    refusal = table.refused(0, c.Configure(rules=rules))
    assert refusal.code is ErrorCode.BAD_RULES
    assert refusal.details == {"field": field}
    with pytest.raises(Refused, match="bad_rules"):
        open_room(c.Create(name="Ada", rules=rules), token(0), None)


def test_a_refusal_repeats_no_hostile_field() -> None:
    hostile = "\x1b]0;\u202e" + "x" * 9000
    for command in (c.Configure(settings={hostile: 1}), c.Configure(rules={hostile: 1})):
        refusal = lobby().refused(0, command)
        assert len(refusal.message) < 200
        assert refusal.details is not None
        for text in (refusal.message, refusal.details["field"]):
            assert not set(text) & {"\x1b", "\u202e"}
        assert len(refusal.details["field"]) <= 40


def test_settings_given_replace_and_others_stay() -> None:
    table = lobby()
    table.set(turn_seconds=30, talk="always")
    table.set(hints="memory", turn_seconds=0)
    assert table.room.settings == Settings(turn_seconds=0, talk="always", hints="memory")
    assert table.do(0, c.Configure(settings={"hints": "memory"})) == ()
    assert table.do(0, c.Configure(settings={})) == ()
    assert table.do(0, c.Configure()) == ()


def test_one_wrong_value_changes_nothing() -> None:
    table = lobby()
    wrong = c.Configure(settings={"pace_ms": 9}, rules={"target": 0})
    assert table.refused(0, wrong).code is ErrorCode.BAD_RULES


def test_rules_given_replace_and_a_new_variant_starts_from_its_preset() -> None:
    table = lobby(target=21)
    table.do(0, c.Configure(rules={"napola": "run"}))
    assert (table.room.rules.target, table.room.rules.napola) == (21, "run")
    table.do(0, c.Configure(rules={"variant": "scopa", "primiera": "off"}))
    assert (table.room.rules.target, table.room.rules.primiera) == (21, "off")
    table.do(0, c.Configure(rules={"variant": "re_bello"}))
    rules = table.room.rules
    assert (rules.target, rules.napola, rules.primiera, rules.re_bello) == (
        11,
        "off",
        "scale",
        True,
    )


def test_more_players_mean_more_seats_and_fewer_need_them_empty() -> None:
    table = lobby()
    table.do(0, c.Configure(rules={"players": 4}))
    assert [seat.kind for seat in table.room.seats] == ["person", "person", "empty", "empty"]
    table.join(3)
    refusal = table.refused(0, c.Configure(rules={"players": 2}))
    assert (refusal.code, refusal.details) == (ErrorCode.BAD_RULES, {"field": "players"})
    table.do(3, c.Leave())
    table.do(0, c.SeatBot(seat=2))
    assert table.refused(0, c.Configure(rules={"players": 2})).code is ErrorCode.BAD_RULES
    table.do(0, c.Unseat(seat=2, name=table.room.seats[2].name or ""))
    table.do(0, c.Configure(rules={"players": 2}))
    assert len(table.room.seats) == 2


def test_rules_stay_in_a_match_and_what_is_played_already_is_no_change() -> None:
    table = lobby().start()
    both = c.Configure(rules={"target": 12}, settings={"pace_ms": 1})
    assert table.refused(0, both).code is ErrorCode.WRONG_PHASE
    assert table.do(0, c.Configure(rules={"target": 11, "variant": "scopa"})) == ()
    assert table.do(0, c.Configure(rules={"target": 11}, settings={"pace_ms": 1}))
    assert table.room.settings.pace_ms == 1
    assert table.do(0, c.Configure(rules={}, settings={"pace_ms": 2}))


def test_a_passcode_is_set_kept_and_removed() -> None:
    table = lobby()
    table.passcode = "a" * 64
    table.do(0, c.Configure(passcode="sesamo"))
    assert table.room.passcode == "a" * 64
    assert table.view(1).passcode
    assert table.do(0, c.Configure(passcode="sesamo")) == ()
    table.do(0, c.Configure(settings={"pace_ms": 1}))
    assert table.view(1).passcode
    table.do(0, c.Configure(passcode=""))
    assert not table.view(1).passcode


def test_watching_is_the_hosts_choice() -> None:
    table = lobby()
    watch = c.Watch(room="TESTROOM", name=" Ugo ")
    with pytest.raises(Refused, match="watching_off"):
        admit_watcher(table.room, watch, table.context)
    table.set(watchers="table")
    assert admit_watcher(table.room, watch, table.context) == "Ugo"
    table.watchers = ("Ugo",)
    with pytest.raises(Refused, match="name_taken"):
        admit_watcher(table.room, watch, table.context)
    with pytest.raises(Refused, match="bad_name"):
        admit_watcher(table.room, c.Watch(room="TESTROOM", name="\x07"), table.context)
    assert table.view(0).watchers == ["Ugo"]


# Talk


@pytest.mark.parametrize(
    ("talk", "watchers_talk", "phases"),
    [
        ("off", True, {}),
        ("always", False, {"lobby": "s", "playing": "s", "deal_over": "s"}),
        ("always", True, {"lobby": "sw", "playing": "sw", "deal_over": "sw"}),
        ("between_deals", False, {"lobby": "s", "deal_over": "s"}),
        ("between_deals", True, {"lobby": "sw", "deal_over": "sw"}),
    ],
)
def test_who_may_talk_when(talk: str, watchers_talk: bool, phases: dict[str, str]) -> None:
    table = lobby(target=50)
    table.set(talk=talk, watchers="table", watchers_talk=watchers_talk)
    for phase in ("lobby", "playing", "deal_over"):
        if phase == "playing":
            table.start()
        if phase == "deal_over":
            table.deal_out(random.Random(1))
        for who, seat in (("s", 1), ("w", None)):
            code = table.code(seat, c.Say(text="ciao"))
            assert code is (None if who in phases.get(phase, "") else ErrorCode.TALK_OFF)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ciao", "ciao"),
        ("  ciao \n bella\t", "ciao bella"),
        ("\x1b[31mrosso\x07", "[31mrosso"),
        ("a\u202eb", "ab"),
        ("👩\u200d🌾", "👩\u200d🌾"),
        ("x" * 280, "x" * 280),
    ],
)
def test_what_is_said_is_made_safe(text: str, said: str) -> None:
    table = lobby()
    table.do(1, c.Say(text=text))
    assert table.room.talk[-1].text == said
    assert (table.room.talk[-1].name, table.room.talk[-1].seat) == (NAMES[1], 1)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "x" * 281, "\x1b"])
def test_what_cannot_be_said(text: str) -> None:
    assert lobby().refused(1, c.Say(text=text)).code is ErrorCode.BAD_TEXT


@pytest.mark.parametrize("key", ["", "k" * 65])
def test_a_key_is_short(key: str) -> None:
    assert lobby().refused(1, c.Say(text="ciao", key=key)).code is ErrorCode.BAD_TEXT


def test_a_key_says_once() -> None:
    table = lobby(players=3)
    table.set(watchers_talk=True)
    say = c.Say(text="ciao", key="k1")
    for who in (0, 1, None):
        assert table.do(who, say)
        assert table.do(who, say) == ()
        assert table.do(who, c.Say(text="altro", key="k1")) == ()
    assert table.do(1, c.Say(text="ciao", key="k2"))
    assert table.do(1, c.Say(text="ciao"))
    assert table.do(1, c.Say(text="ciao"))
    # The resend arrives when talk is off, or from another seat of the same person.
    table.set(talk="off")
    assert table.do(1, say) == ()
    table.do(2, c.Leave())
    table.do(1, c.Sit(seat=2))
    assert table.do(2, say) == ()


def test_old_talk_is_forgotten() -> None:
    table = lobby()
    for number in range(200):
        table.do(1, c.Say(text=f"ciao {number}", key=str(number)))
    assert 20 <= len(table.room.talk) <= 100
    assert table.do(1, c.Say(text="ciao", key="199")) == ()


# Pauses


def test_a_pause_stops_cards_and_counts_but_not_people() -> None:
    chance = random.Random(1)
    table = lobby(target=50).start()
    seat = table.room.to_play
    assert seat is not None
    other = 1 - seat
    assert [type(event) for event in table.do(other, c.Pause())] == [e.Paused]
    assert table.view(None).paused_by == other
    assert table.do(seat, c.Pause()) == ()
    assert table.refused(seat, table.legal(chance)).code is ErrorCode.PAUSED
    table.do(0, c.Configure(settings={"pace_ms": 1}))
    table.do(seat, c.Unpause())
    assert table.do(other, c.Unpause()) == ()
    table.play(chance)


def test_an_exact_repeat_is_a_success_even_when_paused() -> None:
    chance = random.Random(1)
    table = lobby().start()
    seat = table.room.to_play
    command = table.legal(chance)
    table.do(seat, command)
    table.do(0, c.Pause())
    assert table.do(seat, command) == ()
