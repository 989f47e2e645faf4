"""Every option of the server, a row each: what is read, shown by --help and listed in the docs."""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from scopa_server import values

PREFIX: Final = "SCOPA_"


class Option(NamedTuple):
    """One option: its name, what it takes, how that is read, and what it is for."""

    name: str
    takes: str
    read: Callable[[str], object]
    default: str | None
    about: str
    secret: bool = False
    many: bool = False

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        """How it is written in the environment."""
        return PREFIX + self.name.upper().replace("-", "_")

    @property
    def field(self) -> str:
        """Where its value stands in `Config`."""
        field = self.name.replace("-", "_")
        return re.sub("y$", "ie", field) + "s" if self.many else field


def _limit(name: str, default: str, about: str, *, least: int = 1, most: int = 1_000_000) -> Option:
    """A limit (`Bounds`): a number, or a time if it is named so."""
    timed = name.endswith("-time")
    return Option(
        name,
        "TIME" if timed else "N",
        values.duration if timed else values.number(least, most),
        default,
        about,
    )


OPTIONS: Final = (
    Option(
        "host",
        "ADDRESS",
        values.host,
        "127.0.0.1",
        "where players connect; 0.0.0.0 or :: is every network of this machine",
    ),
    Option("port", "PORT", values.port, "8765", "the port for players; 0 takes any that is free"),
    Option(
        "workers",
        "N",
        values.number(1, 64),
        "1",
        "server processes that share the port, to use more than one core; "
        "more than one need a Redis store",
    ),
    Option(
        "public-url",
        "URL",
        values.public_url,
        None,
        "what invites say where players reach the server by another way, as through a proxy: "
        "wss://scopa.example.org; without it, the address each player used",
    ),
    Option(
        "tls-cert",
        "FILE",
        values.readable_file,
        None,
        "the certificate chain (PEM), to serve wss:// without a proxy",
    ),
    Option("tls-key", "FILE", values.readable_file, None, "the certificate's private key (PEM)"),
    Option(
        "origin",
        "ORIGIN",
        values.origins,
        None,
        "the origin of web pages that may connect, https://scopa.example.org; "
        "may be given several times; without it, any",
        many=True,
    ),
    Option(
        "trusted-proxy",
        "NETWORK",
        values.networks,
        None,
        "a proxy whose word on who a player is counts (X-Forwarded-For): its address, its network, "
        "or private for any private network; may be given several times",
        many=True,
    ),
    Option(
        "access-key",
        "KEY",
        values.access_key,
        None,
        "a key that hosting a room asks for; without it, anybody may host",
        secret=True,
    ),
    Option(
        "store",
        "URL",
        values.store,
        "sqlite:data/scopa.db",
        f"where rooms are kept: {values.STORES}",
        secret=True,
    ),
    Option(
        "room-ttl",
        "TIME",
        values.duration,
        "24h",
        "how long a room is kept in which no match was started: 90s, 15m, 24h, 30d",
    ),
    Option(
        "match-ttl",
        "TIME",
        values.duration,
        "30d",
        "how long any other room is kept after it was last in use",
    ),
    _limit("max-connections", "10000", "connections at most"),
    _limit("max-connections-per-address", "200", "connections at most from one address"),
    _limit(
        "max-connections-per-seat",
        "4",
        "connections at most that hold one seat; one more closes the oldest",
        most=16,
    ),
    _limit("max-rooms", "10000", "rooms in use beyond which no new one is opened"),
    _limit(
        "max-rooms-per-address",
        "100",
        "rooms in use that were opened from one address, beyond which it opens no new one",
    ),
    _limit("max-new-rooms-per-hour", "200", "rooms that may be opened from one address in an hour"),
    _limit("max-watchers-per-room", "20", "watchers of a room at most"),
    _limit(
        "max-failures-per-address",
        "20",
        "wrong codes, passcodes, tokens and keys from one address before it must wait between "
        "tries, longer each time",
    ),
    _limit(
        "max-failures-per-room",
        "100",
        "wrong tries at one room, from everywhere, before an address must wait after its first",
    ),
    _limit(
        "max-frame-bytes", "16384", "bytes of a client's frame at most", least=4096, most=1_048_576
    ),
    _limit(
        "max-frames-per-second",
        "100",
        "frames a second from one connection; of twice as many at once the rest are refused, and "
        "who doesn't heed that is closed",
    ),
    _limit("max-talk-per-minute", "30", "what one person may say in a minute"),
    _limit(
        "max-changes-per-minute",
        "120",
        "changes of one table from one address in a minute, cards and talk apart",
    ),
    _limit(
        "max-moves-per-minute",
        "300",
        "moves at one table in a minute, people's, bots' and all but talk; ten minutes' worth may "
        "come at once",
    ),
    _limit(
        "max-changes-per-day",
        "200000",
        "changes of all tables from one address in a day, its bots' cards and all",
        least=100,
        most=1_000_000_000,
    ),
    _limit(
        "max-changes-per-room",
        "200000",
        "changes of one room, from everywhere; beyond, a match is played to its end and no other "
        "begun",
        least=100,
        most=1_000_000_000,
    ),
    _limit("max-name-length", "24", "characters of a name at most", most=24),
    _limit("handshake-time", "10s", "how long a connection may take to open"),
    _limit("idle-time", "5m", "how long a connection may stay without entering a room"),
    _limit("unread-time", "20s", "how long a client may leave what it is sent unread"),
    Option(
        "admin-host", "ADDRESS", values.host, "127.0.0.1", "where health and metrics are served"
    ),
    Option(
        "admin-port",
        "PORT",
        values.admin_port,
        values.AUTO,
        "the port for health and metrics; auto: 1000 above the players' port (9765), or any that "
        "is free; off serves none",
    ),
    Option(
        "log-level",
        "LEVEL",
        values.one_of("debug", "info", "warning", "error"),
        "info",
        "the least that is logged: debug, info, warning or error",
    ),
    Option(
        "log-format",
        "FORMAT",
        values.one_of("auto", "json", "pretty"),
        "auto",
        "json (an object a line), pretty, or auto: pretty on a terminal",
    ),
)


def file_of(name: str) -> str:
    """The name of the option or variable that names a file with a secret in it."""
    return name + ("_FILE" if name.startswith(PREFIX) else "-file")


def listed() -> Iterator[tuple[str, str, str, str, str]]:
    """Rows for people: flag, what it takes, variable, default, meaning."""
    for option in OPTIONS:
        yield option.flag, option.takes, option.variable, option.default or "", option.about
        if option.secret:
            flag, variable = file_of(option.flag), file_of(option.variable)
            yield flag, "FILE", variable, "", f"a file that holds what {option.flag} takes"


def help_text() -> str:
    """What --help shows."""
    lines = [
        "usage: scopa-server [options]",
        "       scopa-server rooms list | show | export | import | delete [options]",
        "",
        "A server for Scopa, Scopone and their kin. Without options it serves this machine alone,",
        "at ws://127.0.0.1:8765, and keeps its rooms in data/scopa.db.",
        "",
        "Each option may be a variable of the environment instead: --port is SCOPA_PORT. An option",
        "wins over a variable. Other users of the machine can see options: give secrets as files.",
        "",
        "  -h, --help",
        "      show this and stop",
        "  -V, --version",
        "      show the version and stop",
    ]
    for flag, takes, _, default, about in listed():
        lines += [f"  {flag} {takes}", *_folded(f"{about} [{default}]" if default else about)]
    return "\n".join(lines) + "\n"


def markdown() -> str:
    """The table for docs/hosts.md."""
    rows = ["| option | environment | default | |", "|---|---|---|---|"]
    for flag, takes, variable, default, about in listed():
        shown = f"`{default}`" if default else ""
        rows.append(f"| `{flag} {takes}` | `{variable}` | {shown} | {about} |")
    return "\n".join(rows) + "\n"


def _folded(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, 96, initial_indent=" " * 6, subsequent_indent=" " * 6, break_on_hyphens=False)


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
