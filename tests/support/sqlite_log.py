"""What lies in a SQLite store's file, seen past the journal."""

import sqlite3
from contextlib import closing
from pathlib import Path


def filed(path: Path) -> list[tuple[str, int]]:
    """Room and number of every commit under its room, in order."""
    return _pairs(path, "SELECT room, number FROM commits ORDER BY room, number")


def lying(path: Path) -> list[tuple[str, int]]:
    """Room and number of every row of the tail, copies of what is filed too."""
    return _pairs(path, "SELECT room, number FROM tail ORDER BY place")


def stored(path: Path) -> list[tuple[str, int]]:
    """Room and number of every commit, filed or not."""
    return sorted({*filed(path), *lying(path)})


def _pairs(path: Path, question: str) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(question).fetchall()
