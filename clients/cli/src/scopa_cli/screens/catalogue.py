"""Lists outside a table: the server's variants, and the seats that this machine holds."""

from typing import Final

from scopa_cli.lines import Line, Span, fit, line, width
from scopa_cli.tokens import HeldSeat
from scopa_protocol.frames import Hello

ABOUT: Final[dict[str, str]] = {
    "scopa": "the plain game, three cards each",
    "scopa_dassi": "an ace sweeps the table",
    "asso_piglia_tutto": "an ace sweeps the table, and that counts as a scopa",
    "scopone": "four in pairs, nine cards each and four on the table",
    "scopone_scientifico": "four in pairs, all forty cards dealt",
    "napola": "a run of coins from the ace scores, to 21",
    "scopone_trentino": "scopone with the napola",
    "milanese": "scopone scientifico with sweeping aces and the napola",
    "re_bello": "the king of coins scores, too",
    "cosentina": "the seven of cups scores, too",
    "napoletana": "all four sevens score, too",
    "quindici": "captures make fifteen",
    "escoba": "captures make fifteen, to 21",
    "cirulla": "fifteens, sweeping aces and declared hands, to 51",
    "chkobba": "the Tunisian game, to 21",
    "libica": "a scopa scores the cards it took",
    "a_perdere": "the fewest points win",
}


def variants(hello: Hello) -> list[Line]:
    """The server's variants, with a word about those that this client knows."""
    columns = max(map(width, hello.variants), default=0)
    rows = [
        line("  ", Span(fit(name, columns), "bold"), f"  {ABOUT.get(name, '')}".rstrip())
        for name in hello.variants
    ]
    return [*rows, line("Open a room with: scopa host --variant NAME")]


def rooms(seats: list[HeldSeat]) -> list[Line]:
    """The seats that this machine holds, and how to come back to each."""
    if not seats:
        return [line("This machine holds no seats. scopa host opens a room.")]
    return [_held(seat) for seat in seats]


def _held(seat: HeldSeat) -> Line:
    if seat.room is None:
        return line(f"A room asked for at {seat.server}, without an answer yet: ", seat.name)
    where = "no answer yet" if seat.seat is None else f"seat {seat.seat}"
    again = seat.invite or seat.room
    return line(
        Span(seat.room, "bold"),
        f"  {where}, {seat.name}  at {seat.server}  ",
        f"scopa join {again}",
    )
