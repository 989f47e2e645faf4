"""An invite as a QR code, where the optional `segno` is installed and the terminal can show it."""

from .lines import Line, Span, line

QUIET: int = 2
"""Light modules around the code; phones read it with fewer than the standard's four."""


def qr(text: str, charset: str, columns: int) -> list[Line]:
    """A text as a code of half blocks, dark on light; nothing where that can't be."""
    if "utf" not in charset.lower():
        return []
    try:
        import segno
    except ImportError:
        return []
    rows = [
        list(map(bool, row)) for row in segno.make_qr(text, error="l").matrix_iter(border=QUIET)
    ]
    return half_blocks(rows) if rows and len(rows[0]) <= columns else []


def half_blocks(rows: list[list[bool]]) -> list[Line]:
    """Two rows of modules on each line; true is dark."""
    if len(rows) % 2:
        rows = [*rows, [False] * len(rows[0])]
    return [
        line(Span("".join(map(_block, upper, lower)), "qr"))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]


def _block(upper: bool, lower: bool) -> str:
    return {(True, True): "█", (True, False): "▀", (False, True): "▄"}.get((upper, lower), " ")
