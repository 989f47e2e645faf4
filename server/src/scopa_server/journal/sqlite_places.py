"""Where in the tail the commits of rooms are that aren't filed yet, as of the last COMMIT.

The thread that writes keeps it, those that read ask it; so nobody has to search the tail. Who has
asked may read the file at any later moment: what was filed since is found there, no place is given
out twice, and a room's log is then what it was at some moment in between.
"""

import sqlite3


class Places:
    """The places of each room's unfiled commits, in the order of their numbers."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, list[int]]] = {}

    def read(self, db: sqlite3.Connection) -> None:
        """Learn them from the file."""
        found: dict[str, tuple[int, list[int]]] = {}
        for room, number, place in db.execute(
            "SELECT t.room, t.number, t.place FROM tail AS t CROSS JOIN rooms AS r"
            " ON r.room = t.room WHERE t.number > r.top ORDER BY t.place"
        ):
            found.setdefault(room, (number, []))[1].append(place)
        self._of = found

    def above(self, room: str, number: int) -> list[int]:
        """Where the commits with a higher number are."""
        first, places = self._of.get(room, (0, []))
        return places[max(0, number + 1 - first) :]

    def last(self, room: str) -> int:
        """Where the newest commit is; 0 if it is filed."""
        _, places = self._of.get(room, (0, (0,)))
        return places[-1]

    def at(self, room: str, number: int) -> int:
        """Where a commit is; 0 if it isn't here."""
        first, places = self._of.get(room, (0, []))
        return places[number - first] if first <= number < first + len(places) else 0

    def rooms(self) -> list[str]:
        """The rooms that have unfiled commits."""
        return list(self._of)

    def add(self, room: str, number: int, place: int) -> None:
        """Note a new commit."""
        self._of.setdefault(room, (number, []))[1].append(place)

    def filed(self, room: str, count: int) -> None:
        """Forget a room's first commits."""
        first, places = self._of[room]
        if count < len(places):
            self._of[room] = first + count, places[count:]
        else:
            del self._of[room]

    def forget(self, room: str) -> None:
        """Forget all of a room."""
        self._of.pop(room, None)
