"""Files of finished deals: the notation, or the JSON that `scopa history --json` writes."""

import json
from pathlib import Path

import msgspec

from scopa_protocol.history import HistoryDeal
from scopa_protocol.notation import read_deals


def read_file(path: Path) -> list[HistoryDeal]:
    """The deals of a file. Raises OSError, or ValueError in words."""
    return read_data(path.read_bytes())


def read_data(data: bytes) -> list[HistoryDeal]:
    """The deals of a file's content. Raises ValueError in words."""
    return _json(data) if data.lstrip()[:1] in (b"{", b"[") else read_deals(_text(data))


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is no text, and no file of deals") from None


def _json(data: bytes) -> list[HistoryDeal]:
    """One array, or a deal on each line."""
    try:
        if data.lstrip()[:1] == b"[":
            return msgspec.json.decode(data, type=list[HistoryDeal])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise ValueError(f"it is no list of deals: {fault}") from None
    deals: list[HistoryDeal] = []
    for place, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            deals.append(msgspec.json.decode(line, type=HistoryDeal))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise ValueError(f"line {place} is no deal: {fault}") from None
    return deals


def write_lines(deals: list[HistoryDeal]) -> str:
    """Deals as JSON, one on each line, in ASCII: it may go to a terminal."""
    return "".join(f"{json.dumps(msgspec.to_builtins(deal))}\n" for deal in deals)
