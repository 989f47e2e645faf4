"""The command line. Nothing but argparse is imported here, so that --help is quick."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from scopa_cli import VERSION

ASK = ""
"""What --passcode and --key without a word stand for."""


def parse(words: Sequence[str]) -> Namespace:
    """Parse a command line; prints help or what is wrong, and exits, like any program."""
    parser = build()
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        raise SystemExit(0)
    return options


def build() -> ArgumentParser:
    """The parser of `scopa`."""
    parser = ArgumentParser(prog="scopa", description="Play Scopa and Scopone with friends.")
    parser.add_argument("-V", "--version", action="version", version=f"scopa {VERSION}")
    subcommands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _host(subcommands.add_parser("host", help="open a room and invite others"))
    _join(subcommands.add_parser("join", help="sit down in a room, or come back to your seat"))
    _watch(subcommands.add_parser("watch", help="watch a room"))
    _history(subcommands.add_parser("history", help="print a room's finished deals in full"))
    _replay(subcommands.add_parser("replay", help="step through a recorded deal"))
    _verify(subcommands.add_parser("verify", help="check that the deals weren't changed"))
    _variants(subcommands.add_parser("variants", help="list what the server can play"))
    _rooms(subcommands.add_parser("rooms", help="list the seats that this machine holds"))
    return parser


def _host(parser: ArgumentParser) -> None:
    parser.add_argument("--variant", help="what to play: see scopa variants (default: scopa)")
    parser.add_argument("--players", type=int, metavar="N", help="how many seats")
    parser.add_argument("--bots", type=int, default=0, metavar="N", help="seats for bots")
    _pairs(parser, "--rule", "a rule that differs from the variant's")
    _pairs(parser, "--setting", "a setting of the room")
    _secret(parser, "--key", "the server's access key")
    _passcode(parser)
    _person(parser)
    _autoplay(parser)
    _common(parser)


def _join(parser: ArgumentParser) -> None:
    parser.add_argument("invite", metavar="INVITE", help="the invite, or its code alone")
    parser.add_argument("--seat", type=int, metavar="N", help="the seat to take")
    parser.add_argument("--new", action="store_true", help="a new seat, even if you hold one")
    _passcode(parser)
    _person(parser)
    _autoplay(parser)
    _common(parser)


def _watch(parser: ArgumentParser) -> None:
    parser.add_argument("invite", metavar="INVITE", help="the invite, or its code alone")
    _passcode(parser)
    _person(parser)
    parser.add_argument("--once", action="store_true", help="go when the match is over")
    _common(parser)


def _history(parser: ArgumentParser) -> None:
    parser.add_argument("invite", metavar="INVITE", help="the invite, or its code alone")
    _deal(parser)
    parser.add_argument("--text", action="store_true", help="the notation, for replay and verify")
    _errand(parser)
    _screen(parser, "one deal a line, as JSON")


def _errand(parser: ArgumentParser) -> None:
    """Who asks for a room's past."""
    parser.add_argument("--watch", action="store_true", help="ask as a watcher, without a seat")
    parser.add_argument("--seat", type=int, metavar="N", help="of several seats, the one that asks")
    _passcode(parser, "with --watch: ")
    _person(parser)
    _server(parser)


def _deal(parser: ArgumentParser) -> None:
    parser.add_argument("--deal", type=int, metavar="N", help="this deal alone")


def _replay(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="from history --text or --json; - is stdin")
    _deal(parser)
    _screen(parser, "")


def _verify(parser: ArgumentParser) -> None:
    parser.add_argument("what", metavar="FILE|INVITE", help="recorded deals, or a room to ask")
    parser.add_argument("--room", metavar="CODE", help="the room that a file's deals are of")
    _deal(parser)
    _errand(parser)
    _screen(parser, "")


def _variants(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="explain this one in full")
    parser.add_argument("--rules", action="store_true", help="every rule, with its values")
    parser.add_argument("--offline", action="store_true", help="ask no server")
    _server(parser)
    _screen(parser, "as JSON")


def _rooms(parser: ArgumentParser) -> None:
    parser.add_argument("--forget", metavar="CODE", help="forget the seats held in this room")
    _screen(parser, "one seat a line, as JSON")


def _pairs(parser: ArgumentParser, option: str, text: str) -> None:
    parser.add_argument(
        option, action="extend", nargs="+", default=[], metavar="KEY=VALUE", help=text
    )


def _passcode(parser: ArgumentParser, when: str = "") -> None:
    _secret(parser, "--passcode", f"{when}the room's passcode")


def _secret(parser: ArgumentParser, option: str, what: str) -> None:
    """What others on this machine could read in its list of processes."""
    variable = f"SCOPA_{option.removeprefix('--').upper()}"
    ways = f"{option} alone to be asked, {option}=WORD, or {variable}"
    parser.add_argument(option, nargs="?", const=ASK, metavar="WORD", help=f"{what}: {ways}")


def _person(parser: ArgumentParser) -> None:
    parser.add_argument("--name", help="your name (or SCOPA_NAME; default: the last one used)")


def _autoplay(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--autoplay", action="store_true", help="let the client play the first thing offered"
    )
    parser.add_argument("--once", action="store_true", help="go when the match is over")


def _server(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--server", metavar="URL", help="ws://host:port or wss://host (or SCOPA_SERVER)"
    )


def _common(parser: ArgumentParser) -> None:
    _server(parser)
    _screen(parser, "frames and commands as JSON lines")
    parser.add_argument(
        "--show-token", action="store_true", help="with --json: print the seat's token, too"
    )


def _screen(parser: ArgumentParser, json: str) -> None:
    """How it is shown; `json`: what `--json` means here, if anything."""
    parser.add_argument("--plain", action="store_true", help="lines only: no colours, no editor")
    parser.add_argument("--ascii", action="store_true", help="no character beyond ASCII")
    if json:
        parser.add_argument("--json", action="store_true", help=json)
