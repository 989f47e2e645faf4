"""What a client may send, and nothing else."""

from typing import Any

import msgspec
import pytest

from scopa_protocol.codec import CODECS, JSON, BadMessage, Codec
from scopa_protocol.commands import MAX_INTEGER, ClientCommand, Create, History, Join, Play, Sit
from support.wire import COMMANDS, TOKEN, missing


@pytest.fixture(params=list(CODECS.values()), ids=list(CODECS))
def codec(request: pytest.FixtureRequest) -> Codec:
    """Each of the two subprotocols."""
    chosen: Codec = request.param
    return chosen


def read(codec: Codec, **fields: Any) -> ClientCommand:
    """What the codec makes of a map with these fields."""
    return codec.decode_command(codec.encode(fields))


def test_every_command_has_an_example() -> None:
    assert missing(COMMANDS, ClientCommand) == set()


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_a_command_comes_back_as_it_was_sent(codec: Codec, command: ClientCommand) -> None:
    assert codec.decode_command(codec.encode(command)) == command


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_an_unknown_field_is_refused(codec: Codec, command: ClientCommand) -> None:
    fields = codec_map(command) | {"id": 7, "colour": "red"}
    with pytest.raises(BadMessage, match="unknown field `colour`") as caught:
        read(codec, **fields)
    assert caught.value.id == 7


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_a_wrong_type_is_refused(codec: Codec, command: ClientCommand) -> None:
    fields = {name: what for name, what in codec_map(command).items() if name not in {"type", "id"}}
    for name in fields:
        with pytest.raises(BadMessage) as caught:
            read(codec, **codec_map(command) | {"id": 7, name: [[1.5]]})
        assert caught.value.id == 7


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_a_command_never_prints_what_it_carries(command: ClientCommand) -> None:
    assert repr(command) == f"<{codec_map(command)['type']}>"


@pytest.mark.parametrize("number", [0, -1, MAX_INTEGER + 1, 10**400, 1.0, True, "1", [1]])
def test_only_a_small_positive_integer_is_an_id(number: object) -> None:
    text = b'{"type":"ping","id":%s}' % json(number)
    with pytest.raises(BadMessage) as caught:
        JSON.decode_command(text)
    assert caught.value.id is None


@pytest.mark.parametrize("number", [1, MAX_INTEGER])
def test_the_smallest_and_the_largest_id(codec: Codec, number: int) -> None:
    assert read(codec, type="ping", id=number).id == number


def test_null_stands_for_no_id(codec: Codec) -> None:
    assert read(codec, type="ping", id=None).id is None


@pytest.mark.parametrize("field", ["deal", "turn"])
@pytest.mark.parametrize("number", [-1, MAX_INTEGER + 1, 1.5, "1", None])
def test_a_decision_has_whole_numbers(codec: Codec, field: str, number: object) -> None:
    play: dict[str, Any] = {"type": "play", "deal": 1, "turn": 1, "card": "7D", "take": []}
    with pytest.raises(BadMessage):
        read(codec, **play | {field: number})


@pytest.mark.parametrize(
    ("card", "take"), [("7D\n", []), ("11D", []), ("7D", ["0C"]), ("7D", ["7d"]), ("7D", None)]
)
def test_a_play_names_cards(codec: Codec, card: str, take: list[str] | None) -> None:
    with pytest.raises(BadMessage):
        read(codec, type="play", deal=1, turn=1, card=card, take=take)


def test_a_card_named_twice_is_refused(codec: Codec) -> None:
    with pytest.raises(BadMessage, match="a card stands twice in take"):
        read(codec, type="play", deal=1, turn=1, card="7D", take=["3C", "4S", "3C"])


def test_a_wrong_seat_is_left_to_the_room(codec: Codec) -> None:
    assert read(codec, type="sit", seat=-1) == Sit(seat=-1)
    assert read(codec, type="join", room="", name="", seat=99) == Join(room="", name="", seat=99)


def test_wrong_rules_are_left_to_the_room(codec: Codec) -> None:
    rules = {"target": "many", "colour": [1, {"x": None}]}
    assert read(codec, type="create", name="A", rules=rules) == Create(name="A", rules=rules)


def test_history_is_asked_from_a_deal() -> None:
    assert JSON.decode_command(b'{"type":"history","from":3}') == History(from_deal=3)
    assert JSON.encode(History(from_deal=3)) == b'{"type":"history","from":3}'


def test_history_of_no_deals_is_no_wish(codec: Codec) -> None:
    with pytest.raises(BadMessage):
        read(codec, type="history", limit=0)


def test_who_wishes_many_deals_is_understood(codec: Codec) -> None:
    assert read(codec, type="history", limit=50) == History(limit=50)


def test_a_command_cannot_be_changed() -> None:
    play = Play(deal=1, turn=1, card="7D", take=[])
    with pytest.raises(AttributeError):
        play.card = "1D"  # type: ignore[misc]


def test_the_examples_hold_the_secret_that_tests_look_for() -> None:
    assert sum(TOKEN in JSON.encode(command).decode() for command in COMMANDS) == 3


def codec_map(command: ClientCommand) -> dict[str, Any]:
    """A command's fields as they are written."""
    return dict(msgspec.json.decode(JSON.encode(command)))


def json(value: object) -> bytes:
    """A value as JSON, whole numbers of any size included."""
    return str(value).encode() if type(value) is int else msgspec.json.encode(value)
