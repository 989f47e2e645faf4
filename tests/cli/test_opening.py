"""From a command line to the command that enters a room."""

from pathlib import Path

import pytest

from scopa_cli.commands.opening import Entrance
from scopa_cli.commands.parser import parse
from scopa_cli.commands.secret import Unclear
from scopa_cli.entry import Entry
from scopa_cli.places import DEFAULT_SERVER, player_name, remember_name, server_address
from scopa_cli.tokens import HeldSeat, SeatStore, comes_back_with
from scopa_protocol.commands import Create, Join, Resume, Watch
from support.server_frames import CODE

LOCAL = "ws://127.0.0.1:8765/ws"


class Machine:
    """A machine with its seats, its last name and its environment."""

    def __init__(self, folder: Path) -> None:
        self.store = SeatStore(folder / "seats")
        self.folder = folder
        self.environment = {"SCOPA_NAME": ""}

    def hold(self, seat: int, name: str, server: str = LOCAL) -> None:
        """Hold a seat."""
        token = f"{name}-{server}-{seat}".ljust(32, "x")
        held = HeldSeat(server=server, room=CODE, seat=seat, name=name, token=token)
        self.store.keep(held)

    def entry(self, *words: str) -> Entry:
        """What a command line comes to."""
        return Entrance(self.store, self.folder, self.environment).entry(parse(words))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_host_asks_for_what_was_wished(machine: Machine) -> None:
    entry = machine.entry(
        *("host", "--variant", "scopone", "--players", "4", "--name", "Anna"),
        *("--rule", "target=21", "grande=yes", "--rule", "napola=run"),
        *("--setting", "talk=always", "--passcode=x", "--key", "k", "--server", "example.org:9000"),
    )
    command = entry.command
    assert isinstance(command, Create)
    assert entry.endpoint == "ws://example.org:9000/ws"
    assert command.rules == {
        "variant": "scopone",
        "players": 4,
        "target": 21,
        "grande": True,
        "napola": "run",
    }
    assert command.settings == {"talk": "always"}
    assert (command.passcode, command.key) == ("x", "k")
    assert command.token


def test_host_without_options_is_plain_scopa(machine: Machine) -> None:
    machine.environment["SCOPA_KEY"] = "k"
    command = machine.entry("host").command
    assert isinstance(command, Create)
    assert (command.rules, command.settings, command.key) == ({"variant": "scopa"}, None, "k")


@pytest.mark.parametrize(
    ("words", "environment", "asked"),
    [
        (("--passcode=a", "--key=b"), {}, ("a", "b")),
        ((), {"SCOPA_PASSCODE": "c", "SCOPA_KEY": "d"}, ("c", "d")),
        (("--passcode=a",), {"SCOPA_PASSCODE": "c"}, ("a", None)),
        (("--passcode", "--key"), {"SCOPA_PASSCODE": "c"}, ("Passcode typed", "Key typed")),
        ((), {"SCOPA_PASSCODE": ""}, (None, None)),
    ],
)
def test_secrets_need_not_stand_in_the_list_of_processes(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    environment: dict[str, str],
    asked: tuple[str | None, str | None],
) -> None:
    machine.environment |= environment
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: f"{prompt.rstrip(': ')} typed ")
    command = machine.entry("host", *words).command
    assert isinstance(command, Create)
    assert (command.passcode, command.key) == asked


@pytest.mark.parametrize("command", ["host", "join", "watch", "history", "verify"])
def test_a_passcode_is_asked_for_wherever_one_is_given(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    options = parse([command, *([] if command == "host" else [CODE]), "--passcode"])
    entrance = Entrance(machine.store, machine.folder, machine.environment)
    with pytest.raises(Unclear, match="SCOPA_PASSCODE"):
        entrance.errand(CODE, options) if hasattr(options, "watch") else entrance.entry(options)


def test_join_takes_the_server_from_the_invite(machine: Machine) -> None:
    entry = machine.entry("join", "wss://h.example/base/krtn-wxyz", "--name", "Ugo", "--seat", "1")
    assert entry.endpoint == "wss://h.example/base/ws"
    assert isinstance(entry.command, Join)
    assert (entry.command.room, entry.command.name, entry.command.seat) == (CODE, "Ugo", 1)


def test_join_with_a_code_goes_to_the_known_server(machine: Machine) -> None:
    machine.environment["SCOPA_SERVER"] = "wss://env.example"
    assert machine.entry("join", CODE).endpoint == "wss://env.example/ws"
    machine.hold(1, "Anna", "wss://other.example/ws")
    assert machine.entry("join", CODE).endpoint == "wss://other.example/ws"
    assert machine.entry("join", CODE, "--server", "ws://third").endpoint == "ws://third/ws"


def test_join_comes_back_to_the_seat_held(machine: Machine) -> None:
    machine.hold(1, "Anna")
    assert isinstance(machine.entry("join", CODE).command, Resume)
    assert isinstance(machine.entry("join", CODE, "--name", "anna").command, Resume)
    assert isinstance(machine.entry("join", CODE, "--name", "Bruno").command, Join)
    assert isinstance(machine.entry("join", CODE, "--new").command, Join)


@pytest.mark.parametrize("command", ["join", "watch"])
def test_an_invite_without_its_beginning_is_told_with_it(machine: Machine, command: str) -> None:
    with pytest.raises(Unclear, match=rf"beginning: type ws://localhost:8765/{CODE}\.$"):
        machine.entry(command, f"localhost:8765/{CODE}")
    both = rf"type wss://h\.example/{CODE}, or ws://h\.example/{CODE} for a server without TLS\.$"
    with pytest.raises(Unclear, match=both):
        machine.entry(command, f" h.example/{CODE}")


@pytest.mark.parametrize("typed", [f"ftp://h/{CODE}", f"/{CODE}", f"u@h/{CODE}", "h/lobby", "h"])
def test_what_lacks_more_than_its_beginning_is_no_invite(machine: Machine, typed: str) -> None:
    with pytest.raises(Unclear, match=r"no invite|A server is written"):
        machine.entry("join", typed)


def test_join_asks_which_of_several_seats(machine: Machine) -> None:
    machine.hold(0, "Anna")
    machine.hold(1, "Bruno")
    with pytest.raises(Unclear, match=r"--seat 0 \(Anna\), --seat 1 \(Bruno\)"):
        machine.entry("join", CODE)
    command = machine.entry("join", CODE, "--seat", "1").command
    assert isinstance(command, Resume)
    assert command.token.startswith("Bruno")


def test_a_way_back_is_told_that_asks_nothing_more(machine: Machine) -> None:
    machine.hold(0, "Anna")
    assert [comes_back_with(seat, machine.store.all()) for seat in machine.store.all()] == [
        f"scopa join {CODE}"
    ]
    machine.hold(1, "Bruno")
    machine.hold(1, "Ugo", server="wss://else.where/ws")
    for seat in machine.store.all():
        words = comes_back_with(seat, machine.store.all()).split()[1:]
        command = machine.entry(*words, "--server", seat.server).command
        assert isinstance(command, Resume)
        assert command.token == seat.token


def test_a_request_without_an_answer_is_made_with_the_same_token(machine: Machine) -> None:
    machine.store.keep(HeldSeat(server=LOCAL, room=CODE, seat=None, name="Anna", token="old" * 10))
    command = machine.entry("join", CODE).command
    assert isinstance(command, Join)
    assert command.token == "old" * 10


def test_watch_needs_no_seat(machine: Machine) -> None:
    machine.hold(1, "Anna")
    entry = machine.entry("watch", f"ws://127.0.0.1:8765/{CODE}")
    assert isinstance(entry.command, Watch)
    assert entry.seating is None


@pytest.mark.parametrize(
    "words",
    [
        ("join", "nonsense"),
        ("join", "http://"),
        ("host", "--rule", "target"),
        ("host", "--server", "ftp://x"),
        ("host", "--server", "ws://[broken"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(machine: Machine, words: tuple[str, ...]) -> None:
    with pytest.raises(Unclear) as unclear:
        machine.entry(*words)
    assert str(unclear.value)[0].isupper()
    assert str(unclear.value).endswith(".")


def test_names_and_servers_come_from_the_nearest_place(tmp_path: Path) -> None:
    remember_name("Last", tmp_path)
    assert player_name("Option", {"SCOPA_NAME": "Env"}, tmp_path) == "Option"
    assert player_name(None, {"SCOPA_NAME": "Env"}, tmp_path) == "Env"
    assert player_name(None, {}, tmp_path) == "Last"
    assert player_name(None, {}, tmp_path / "nowhere")
    assert server_address("ws://a", {"SCOPA_SERVER": "ws://b"}) == "ws://a"
    assert server_address(None, {"SCOPA_SERVER": "ws://b"}) == "ws://b"
    assert server_address(None, {}) == DEFAULT_SERVER


def test_a_name_that_was_tampered_with_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(b"\x1b[2J")
    assert "\x1b" not in player_name(None, {}, tmp_path)
