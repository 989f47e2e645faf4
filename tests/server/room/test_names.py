"""Names that are refused or taken; tokens and codes."""

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.live.chance import new_token
from scopa_server.room.decide import open_room
from scopa_server.room.names import BOT_NAMES, bot_name, of_a_bot, taken
from scopa_server.room.refused import Refused
from scopa_server.room.tokens import is_token, room_code, token_hash
from support.tables import four, nina, token


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "\u200b",
        "a\x1b[31m",
        "a\nb",
        "\u202eanna",
        "x" * 25,
        "\u0301",
        "\u3164",
        "a\u200db",
    ],
)
def test_names_that_nobody_can_read_are_refused(name: str) -> None:
    assert four().refused(None, nina(name=name)).code is ErrorCode.BAD_NAME
    with pytest.raises(Refused, match="bad_name"):
        open_room(c.Create(name=name, rules={}), token(0), None)


@pytest.mark.parametrize(
    "name",
    [
        "Anna",
        " anna ",
        "ANNA",
        "\uff21nna",
        "\u0410nna",
        "Ann\u0430",
        "A\u0300nna",
        "An na",
        "A\u039d\u039dA",
        "\u0391\u039d\u039d\u0410",
        "\ua4ee\ua4e0\ua4e0\ua4ee",
        "An\u043fa",
        "\u0410\u043f\u043f\u0430",
        "\u1d00\u0274\u0274\u1d00",
    ],
)
def test_names_that_look_alike_are_one(name: str) -> None:
    table = four()
    assert table.refused(None, nina(name=name)).code is ErrorCode.NAME_TAKEN


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("Bill", "BiII"),
        ("Olga", "0lga"),
        ("Arno", "Amo"),
        ("Hugo", "\u041dugo"),
        ("Bruno", "\u0412runo"),
        ("Mario", "\u039c\u0430ri\u043e"),
        ("\u039d\u03af\u03ba\u03bf\u03c2", "\u03bd\u03af\u03ba\u03bf\u03c2"),
        ("Tom", "\u0422\u043e\u043c"),
        ("MOT", "\u043c\u043e\u0442"),
        ("Coberto", "\u0421\u043e\u0432\u0435\u0433\u0442\u043e"),
        ("Katon", "\u03ba\u03b1\u03c4\u03bf\u03b7"),
    ],
)
def test_letters_that_look_alike_are_one(name: str, alike: str) -> None:
    table = four()
    table.join(1, name)
    assert table.refused(None, nina(name=alike)).code is ErrorCode.NAME_TAKEN


@pytest.mark.parametrize(
    "name",
    [
        "Annalisa",
        "\u039d\u03af\u03ba\u03bf\u03c2",
        "\u0410\u043b\u043b\u0430",
        "李雷",
        "Zoë",
        "x" * 24,
    ],
)
def test_other_names_are_welcome(name: str) -> None:
    table = four()
    table.do(None, nina(1, f" {name} "))
    assert table.room.seats[1].name == name


@pytest.mark.parametrize(
    "name",
    [
        "An\u0444a",  # Cyrillic ef, which no table of look-alikes takes for a Latin letter
        "\u0391nton",
        "Ivan \u0418\u0432\u0430\u043d",
        "\u0430\u03b2\u0433",
        "Anna\u05d0",
        "\ud55c\u3042",
    ],
)
def test_a_name_that_mixes_alphabets_is_refused(name: str) -> None:
    refusal = four().refused(None, nina(name=name))
    assert (refusal.code, "alphabets" in refusal.message) == (ErrorCode.BAD_NAME, True)


@pytest.mark.parametrize(
    "name",
    [
        "Łukasz",
        "\u592a\u90ce\u30ab\u30ca\u30fc",
        "Anna\u674e",
        "\ud55c\uae00 Park",
        "Zoë 2",
        "\u0418\u0432\u0430\u043d 🦊",
        "\u05d3\u05e0\u05d4",
        "\u0905\u0928\u093f\u0932",
    ],
)
def test_a_name_in_one_alphabet_is_welcome(name: str) -> None:
    table = four()
    table.do(None, nina(1, name))
    assert table.room.seats[1].kind == "person"


@pytest.mark.parametrize(
    "name",
    [
        *(name.upper() for name in BOT_NAMES),
        "Bot",
        "bot 1",
        "B0t 12",
        "\uff22ot\uff13",
        "\u0412\u043et 1",
        "\u0412\u043e\u0442",
        "\u0432\u043e\u0442 1",
        "\u0431\u043e\u0442",
        "\u0392\u03bf\u03c4",
        "\u0299\u1d0f\u1d1b",
        "C0lombina",
        "Ar1ecchino",
        "Anna (bot)",
        "Anna [B\u043et]",
        "Anna \uff08host\uff09",
        "Anna (host, you)",
    ],
)
def test_nobody_goes_by_the_name_of_a_bot(name: str) -> None:
    table = four()
    assert table.refused(None, nina(name=name)).code is ErrorCode.NAME_TAKEN
    with pytest.raises(Refused, match="name_taken"):
        open_room(c.Create(name=name, rules={}), token(0), None)


@pytest.mark.parametrize(
    "name",
    [
        "Botticelli",
        "Abbott",
        "Robot",
        "Anna (Rome)",
        "Colomba",
        "\u0412\u043e\u0442\u0430\u043d",
        "\u0420\u043e\u0431\u043e\u0442",
    ],
)
def test_names_with_a_bot_s_inside_are_welcome(name: str) -> None:
    table = four()
    table.do(None, nina(1, name))
    assert table.room.seats[1].name == name


def test_every_bot_has_a_name_of_bots() -> None:
    others: list[str] = []
    for _ in range(len(BOT_NAMES) + 3):
        others.append(bot_name(others))
    assert all(map(of_a_bot, others))
    assert len(set(others)) == len(others)
    assert bot_name(["Arlecchino", "C\u043elombina"]) == "Pantalone"


def test_names_are_unique_among_seats_bots_watchers_and_who_waits() -> None:
    table = four().start()
    table.watchers = ("Ugo",)
    table.do(1, c.Leave())
    table.do(None, nina(1))
    table.do(2, c.Leave())
    for name in ("Ugo", "Nina", "Anna"):
        late = c.Join(room="TESTROOM", name=name, seat=2, token="z" * 22)
        assert table.refused(None, late).code is ErrorCode.NAME_TAKEN


@pytest.mark.parametrize(
    "names",
    [
        "Иван Мария Ольга Дмитрий Екатерина Пётр Нина Вова Боба Катя Толя Тоня Вася Бася",
        "Γιώργος Ελένη Νίκος Μαρία Ρένα Θάνος Κώστας Τάσος Πάνος Ηλίας Ζωή Βίκυ Πίνα Νίνα Νάνος",
        "Ivan Maria Olga Dmitri Nina Vova Tolya Nikos Elena Pena Hugo Tom Bart Mark Kate",
    ],
)
def test_people_of_one_alphabet_are_told_apart(names: str) -> None:
    others: list[str] = []
    for name in names.split():
        assert not of_a_bot(name)
        assert not taken(name, others)
        others.append(name)


# Tokens


def test_tokens_and_codes() -> None:
    assert is_token(new_token())
    assert new_token() != new_token()
    for text in ("", "x" * 21, "x" * 65, "x" * 22 + "\n", "x" * 21 + "/"):
        assert not is_token(text)
    made = new_token()
    assert made not in token_hash(made)
    codes = [room_code(made, attempt) for attempt in range(20)]
    assert len(set(codes)) == 20
    assert all(len(code) == 8 for code in codes)
    assert codes[0] == room_code(made, 0)
