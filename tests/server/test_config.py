"""Options and environment: what is read, what is refused, and that no secret is repeated."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_protocol.invite import CODE_ALPHABET, CODE_LENGTH, read_invite, write_invite
from scopa_server import values
from scopa_server.bounds import SPARABLE
from scopa_server.config import BadOption, Config, fit_to_serve, parse
from scopa_server.options import OPTIONS, listed

SECRET = "hunter2-and-more"


def refused(*argv: str, **environ: str) -> str:
    """Why these options are refused."""
    with pytest.raises(BadOption) as caught:
        parse(argv, environ)
    return str(caught.value)


def test_without_options_it_serves_this_machine_alone() -> None:
    assert parse([], {}) == Config(
        host="127.0.0.1",
        port=8765,
        workers=1,
        public_url=None,
        tls_cert=None,
        tls_key=None,
        origins=(),
        trusted_proxies=(),
        access_key=None,
        store="sqlite:data/scopa.db",
        room_ttl=86_400,
        match_ttl=30 * 86_400,
        max_connections=10000,
        max_connections_per_address=200,
        max_rooms=10000,
        spared=SPARABLE,
        admin_host="127.0.0.1",
        admin_port="auto",
        log_level="info",
        log_format="auto",
    )


def test_every_option_has_a_field_of_its_own() -> None:
    fields = {option.field for option in OPTIONS}
    assert fields | {"spared", "warnings"} == set(Config.__dataclass_fields__)
    assert len(fields) == len(OPTIONS)


@pytest.mark.parametrize(
    ("flag", "variable", "text", "field", "value"),
    [
        ("--host", "SCOPA_HOST", "::", "host", "::"),
        ("--host", "SCOPA_HOST", "[::1]", "host", "::1"),
        ("--host", "SCOPA_HOST", "games.example.org", "host", "games.example.org"),
        ("--port", "SCOPA_PORT", "0", "port", 0),
        ("--workers", "SCOPA_WORKERS", "4", "workers", 4),
        ("--admin-host", "SCOPA_ADMIN_HOST", "0.0.0.0", "admin_host", "0.0.0.0"),  # noqa: S104
        ("--admin-port", "SCOPA_ADMIN_PORT", "off", "admin_port", None),
        ("--admin-port", "SCOPA_ADMIN_PORT", "0", "admin_port", 0),
        ("--store", "SCOPA_STORE", "redis://cache:6379/1", "store", "redis://cache:6379/1"),
        ("--access-key", "SCOPA_ACCESS_KEY", "dàmmi", "access_key", "dàmmi"),
        ("--public-url", "SCOPA_PUBLIC_URL", "wss://a.org/scopa/", "public_url", "wss://a.org/scopa"),
        ("--public-url", "SCOPA_PUBLIC_URL", "ws://[::1]:80/ws", "public_url", "ws://[::1]:80"),
        ("--origin", "SCOPA_ORIGIN", "https://A.org:443/", "origins", ("https://a.org",)),
        ("--room-ttl", "SCOPA_ROOM_TTL", "90s", "room_ttl", 90),
        ("--room-ttl", "SCOPA_ROOM_TTL", "15m", "room_ttl", 900),
        ("--match-ttl", "SCOPA_MATCH_TTL", "2h", "match_ttl", 7200),
        ("--match-ttl", "SCOPA_MATCH_TTL", "3650d", "match_ttl", 3650 * 86_400),
        ("--max-connections", "SCOPA_MAX_CONNECTIONS", "1", "max_connections", 1),
        ("--max-rooms", "SCOPA_MAX_ROOMS", "1000000", "max_rooms", 1_000_000),
        ("--log-level", "SCOPA_LOG_LEVEL", "debug", "log_level", "debug"),
        ("--log-format", "SCOPA_LOG_FORMAT", "json", "log_format", "json"),
    ],
)  # fmt: skip
def test_an_option_may_also_be_a_variable(
    flag: str, variable: str, text: str, field: str, value: object
) -> None:
    assert getattr(parse([flag, text], {}), field) == value
    assert getattr(parse([f"{flag}={text}"], {}), field) == value
    assert getattr(parse([], {variable: text}), field) == value


def test_a_file_serves_one_process() -> None:
    fit_to_serve(parse(["--workers", "1"], {}))
    fit_to_serve(parse(["--workers", "2", "--store", "redis://cache/0"], {}))
    with pytest.raises(BadOption, match="--workers needs a store that processes can share"):
        fit_to_serve(parse([], {"SCOPA_WORKERS": "2"}))


@pytest.mark.parametrize("limit", sorted(SPARABLE))
def test_a_limit_that_is_asked_for_holds_for_everybody(limit: str) -> None:
    [option] = [option for option in OPTIONS if option.field == limit]
    assert option.default is not None
    rest = SPARABLE - {limit}
    # Its value doesn't matter: whoever writes down the default wants it to hold.
    assert parse([option.flag, option.default], {}).spared == rest
    assert parse([], {option.variable: "1000"}).spared == rest
    assert parse([], {option.variable: ""}).spared == SPARABLE


def test_no_other_option_changes_what_is_spared() -> None:
    assert parse(["--max-connections", "10", "--max-talk-per-minute", "1"], {}).spared == SPARABLE


def test_an_option_wins_over_a_variable() -> None:
    assert parse(["--port", "1"], {"SCOPA_PORT": "2"}).port == 1
    assert parse(["--port", "1"], {"SCOPA_PORT": "nonsense"}).port == 1
    assert parse(["--port", "1", "--port", "3"], {}).port == 3


def test_an_empty_variable_is_an_unset_one() -> None:
    config = parse([], {"SCOPA_ACCESS_KEY": "", "SCOPA_PORT": "", "SCOPA_TYPO": ""})
    assert (config.access_key, config.port, config.warnings) == (None, 8765, ())


def test_origins_may_be_given_several_times() -> None:
    both = ("https://a.org", "http://b.org:8080")
    assert parse(["--origin", both[0], "--origin", both[1]], {}).origins == both
    assert parse([], {"SCOPA_ORIGIN": ", ".join(both)}).origins == both


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--host", "0.0.0.0:80"], "--host must be an address or host name alone"),
        (["--host", "a b"], "--host must be"),
        (["--port", "65536"], "--port must be a number from 0 to 65535"),
        (["--port", "-1"], "--port must be"),
        (["--port", "٣"], "--port must be"),
        (["--port", "tcp://10.0.0.1:8765"], "enableServiceLinks"),
        (["--admin-port", "on"], "--admin-port must be a number from 0 to 65535"),
        (["--admin-port", "on"], "or off"),
        (["--admin-port", "8765"], "--port and --admin-port are the same"),
        (["--store", "postgres://x"], "--store must be sqlite:PATH, redis://"),
        (["--store", "sqlite:"], "--store must be"),
        (["--store", "redis://a\nb"], "--store must hold no control characters"),
        (["--public-url", "https://a.org"], "--public-url must be ws://HOST"),
        (["--public-url", "wss://a.org:0"], "--public-url must be"),
        (["--public-url", "wss://a.org:99999"], "--public-url must be"),
        (["--public-url", "wss://[a.org"], "--public-url must be"),
        (["--public-url", "wss://a.org?x=1"], "--public-url must be"),
        (["--public-url", "wss://u:p@a.org"], "no user name or password"),
        (["--origin", "a.org"], "--origin must be https://HOST"),
        (["--origin", "https://a.org/path"], "--origin must be"),
        (["--origin", ","], "--origin must be"),
        (["--room-ttl", "24"], "with its unit"),
        (["--room-ttl", "0s"], "--room-ttl must be"),
        (["--match-ttl", "9999d"], "--match-ttl must be"),
        (["--max-rooms", "0"], "--max-rooms must be a number from 1"),
        (["--log-level", "loud"], "--log-level must be one of debug, info"),
        (["--access-key", "a\nb"], "--access-key must be"),
        (["--access-key", ""], "--access-key is empty"),
        (["--access-key"], "--access-key needs a value"),
        (["--acces-key", SECRET], "did you mean --access-key?"),
        (["--frobnicate"], "there is no option --frobnicate; see --help"),
        (["serve"], "belongs to no option"),
        (["--tls-cert", "no/such.pem"], "--tls-cert must name a file"),
        (["--tls-cert", __file__], "--tls-cert and --tls-key belong together"),
        (["--tls-key", __file__], "--tls-cert and --tls-key belong together"),
    ],
)
def test_a_wrong_option_is_refused_in_words(argv: list[str], words: str) -> None:
    assert words in refused(*argv)


def test_a_wrong_variable_is_named() -> None:
    assert refused(SCOPA_PORT="80x").startswith("SCOPA_PORT must be")


@pytest.mark.parametrize(
    ("argv", "flags"),
    [
        (["--access-key", SECRET], ["--access-key"]),
        (["--store", f"redis://:{SECRET}@cache/0"], ["--store"]),
        (["--store", f"unix:///run/redis.sock?password={SECRET}"], ["--store"]),
        (["--store", f"redis+cluster://:{SECRET}@a,b"], ["--store"]),
        (["--store", f"redis+sentinel://a/scopa?sentinel_password={SECRET}"], ["--store"]),
        (["--store", "redis://cache/0"], []),
        (["--store", "redis+cluster://a,b:7000"], []),
        (["--store", "redis+sentinel://a,b/scopa"], []),
        (["--store", "sqlite:data/anna@home.db"], []),
        (["--host", "::"], []),
    ],
)
def test_a_secret_that_everybody_can_read_is_warned_of(argv: list[str], flags: list[str]) -> None:
    found = parse(
        [*argv, "--port", "1"], {"SCOPA_ACCESS_KEY": SECRET} if not flags else {}
    ).warnings
    assert [words.split()[0] for words in found] == flags
    assert all("-file or the environment" in words for words in found)
    assert SECRET not in " ".join(found)


def test_both_halves_of_tls_are_taken() -> None:
    config = parse(["--tls-cert", __file__, "--tls-key", __file__], {})
    assert (config.tls_cert, config.tls_key) == (Path(__file__), Path(__file__))


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"\n {SECRET}\n")
    assert parse(["--access-key-file", str(file)], {}).access_key == SECRET
    assert parse([], {"SCOPA_ACCESS_KEY_FILE": str(file)}).access_key == SECRET
    assert parse(["--access-key", "x"], {"SCOPA_ACCESS_KEY_FILE": str(file)}).access_key == "x"
    file.write_text("sqlite:elsewhere.db\n")
    assert parse([], {"SCOPA_STORE_FILE": str(file)}).store == "sqlite:elsewhere.db"


def test_a_secret_is_given_once(tmp_path: Path) -> None:
    assert "both given" in refused("--store", "sqlite:a", "--store-file", "b")
    assert "SCOPA_ACCESS_KEY and SCOPA_ACCESS_KEY_FILE are both given" in refused(
        SCOPA_ACCESS_KEY="a", SCOPA_ACCESS_KEY_FILE="b"
    )


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"one\ntwo"])
def test_a_useless_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    assert refused("--access-key-file", str(file)).startswith("--access-key-file ")


@pytest.mark.parametrize("path", ["no/such/file", ".", "a\0b"])
def test_an_unreadable_file_is_refused(path: str) -> None:
    assert "SCOPA_STORE_FILE must name a text file" in refused(SCOPA_STORE_FILE=path)


def test_an_unknown_variable_is_warned_about() -> None:
    environ = {"SCOPA_PROT": "1", "SCOPA_SERVER": "ws://a", "SCOPA_NAME": "Anna", "PATH": "/bin"}
    warning = "SCOPA_PROT is no setting of the server and is ignored; did you mean SCOPA_PORT?"
    assert parse([], environ).warnings == (warning,)


@pytest.mark.parametrize(
    "argv",
    [
        ["--access-key", SECRET, "--port", "x"],
        ["--access-key", SECRET + "\t"],
        ["--acces-key", SECRET],
        ["--acces-key=" + SECRET],
        ["--acces-key", "--" + SECRET],
        [SECRET],
        ["-" + SECRET],
        ["--store", SECRET],
        ["--store-file", SECRET],
        ["--port", SECRET],
        ["--log-level", SECRET],
        ["--tls-cert", SECRET],
        ["--public-url", f"wss://user:{SECRET}@a.org"],
        ["--origin", f"https://user:{SECRET}@a.org"],
    ],
)
def test_no_message_repeats_a_secret(argv: list[str]) -> None:
    assert SECRET not in refused(*argv)


@pytest.mark.parametrize(
    ("store", "name"),
    [
        ("sqlite:data/scopa.db", "sqlite:data/scopa.db"),
        ("redis://cache:6379/1", "redis://cache:6379/1"),
        (f"redis+cluster://u:{SECRET}@a,b:7000", "redis+cluster://a,b:7000"),
        (
            f"rediss+sentinel://:{SECRET}@a,b/scopa/1?sentinel_password={SECRET}",
            "rediss+sentinel://a,b/scopa/1",
        ),
        (f"rediss://user:{SECRET}@cache:6379/0?ssl_cert_reqs=none", "rediss://cache:6379/0"),
        (f"unix://user:{SECRET}@/run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        (f"redis://user:1/{SECRET}@cache/0", "redis:"),
        (f"redis://user:1?{SECRET}@cache/0", "redis:"),
        (f"redis://user:1#{SECRET}@cache/0", "redis:"),
        (f"redis://[{SECRET}@cache/0", "redis:"),
        (f"redis:{SECRET}@cache/0", "redis:"),
    ],
)
def test_the_shown_config_holds_no_secret(store: str, name: str) -> None:
    config = parse(["--store", store, "--access-key", SECRET], {})
    assert config.store_name == name
    assert SECRET not in repr(config)


@given(
    host=st.from_regex(r"[a-z][a-z0-9]{0,8}(\.[a-z]{2,5})?", fullmatch=True),
    port=st.integers(1, 65535),
    base=st.from_regex(r"(/[a-z0-9]{1,6}){0,2}/?", fullmatch=True),
    code=st.text(CODE_ALPHABET, min_size=CODE_LENGTH, max_size=CODE_LENGTH),
)
def test_an_invite_of_a_public_url_leads_back_to_it(
    host: str, port: int, base: str, code: str
) -> None:
    url = values.public_url(f"wss://{host}:{port}{base}")
    invite = read_invite(write_invite(url, code))
    assert (invite.endpoint, invite.code) == (f"{url}/ws", code)


WORDS = st.text(max_size=20) | st.sampled_from(
    [*(row[0] for row in listed()), "--", "-", "--=", "1", "::", "redis://[", "sqlite:a",
     "9" * 5000]
)  # fmt: skip


@given(
    argv=st.lists(WORDS, max_size=5),
    environ=st.dictionaries(st.sampled_from([row[2] for row in listed()]), WORDS, max_size=4),
)
def test_anything_is_read_or_refused_in_words(argv: list[str], environ: dict[str, str]) -> None:
    try:
        config = parse(argv, environ)
    except BadOption as error:
        assert str(error)  # noqa: PT017
    else:
        assert config.store_name
        assert repr(config)
