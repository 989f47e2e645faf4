"""From the command line to the command that enters a room, and the seat it is for."""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scopa_cli.dial import is_own
from scopa_cli.entry import Entry, join_command
from scopa_cli.places import player_name, server_address
from scopa_cli.seating import Seating
from scopa_cli.tokens import HeldSeat, SeatStore, new_token
from scopa_cli.values import pairs
from scopa_protocol.commands import Create, Resume, Watch
from scopa_protocol.invite import Invite, endpoint, read_invite

from .secret import Unclear, ask_secrets


class Entrance:
    """Reads a command line with what this machine knows: its seats, names and environment."""

    def __init__(self, store: SeatStore, folder: Path, environment: Mapping[str, str]) -> None:
        self.store = store
        self.folder = folder
        self.environment = environment

    def entry(self, options: Namespace) -> Entry:
        """What to do. Raises Unclear."""
        ask_secrets(options, self.environment)
        try:
            if options.command == "host":
                return self._host(options)
            invite = _invite(options.invite)
            if options.command == "watch":
                return self._watch(options, invite)
            return self._join(options, invite)
        except ValueError as wrong:
            raise Unclear(_sentence(str(wrong))) from None

    def errand(self, place: str, options: Namespace) -> Entry:
        """How to look at a room's past: from a seat held, or as a watcher. Raises Unclear."""
        ask_secrets(options, self.environment)
        try:
            invite = _invite(place)
            if options.watch:
                return self._watch(options, invite)
            server = invite.endpoint or self._known_server(options, invite.code)
        except ValueError as wrong:
            raise Unclear(_sentence(str(wrong))) from None
        held = self._held(options, server, invite.code)
        if held is None:
            raise Unclear("This machine holds no seat there: --watch asks as one who watches.")
        resume = Resume(room=invite.code, token=held.token)
        return Entry(endpoint=server, command=resume, seating=None, seat=held.seat)

    def _name(self, options: Namespace) -> str:
        return player_name(options.name, self.environment, self.folder)

    def _server(self, options: Namespace) -> str:
        return endpoint(server_address(options.server, self.environment))

    def _host(self, options: Namespace) -> Entry:
        server, name = self._server(options), self._name(options)
        seating = self._asking(server, None, name)
        command = Create(
            name=name,
            rules=room_rules(options),
            settings=dict(pairs(options.setting)) or None,
            passcode=options.passcode,
            token=seating.token,
            key=options.key,
        )
        return Entry(endpoint=server, command=command, seating=seating)

    def _watch(self, options: Namespace, invite: Invite) -> Entry:
        server = invite.endpoint or self._known_server(options, invite.code)
        name, passcode = self._name(options), options.passcode
        command = Watch(room=invite.code, name=name, passcode=passcode)
        return Entry(endpoint=server, command=command, seating=None)

    def _join(self, options: Namespace, invite: Invite) -> Entry:
        server = invite.endpoint or self._known_server(options, invite.code)
        held = None if options.new else self._held(options, server, invite.code)
        if held is not None:
            seating = Seating(self.store, held)
            resume = Resume(room=invite.code, token=held.token)
            return Entry(endpoint=server, command=resume, seating=seating, seat=options.seat)
        seating = self._asking(server, invite.code, self._name(options))
        command = join_command(seating, options.seat, options.passcode)
        return Entry(endpoint=server, command=command, seating=seating, seat=options.seat)

    def _known_server(self, options: Namespace, code: str) -> str:
        """A bare code may be of a room that this machine knows on some server."""
        if options.server is None:
            servers = {seat.server for seat in self.store.of_room(code)}
            if len(servers) == 1:
                return servers.pop()
        return self._server(options)

    def _held(self, options: Namespace, server: str, code: str) -> HeldSeat | None:
        seats = self.store.of_room(code, server)
        asked = options.name or self.environment.get("SCOPA_NAME")
        if options.seat is not None:
            seats = [seat for seat in seats if seat.seat == options.seat]
        if asked:
            seats = [seat for seat in seats if seat.name.casefold() == asked.strip().casefold()]
        if len(seats) > 1:
            mine = ", ".join(f"--seat {seat.seat} ({seat.name})" for seat in seats)
            new = "; or --new" if "new" in options else ""
            raise Unclear(f"This machine holds several seats there: say which, {mine}{new}.")
        return seats[0] if seats else None

    def _asking(self, server: str, room: str | None, name: str) -> Seating:
        """A new token, or that of a request whose answer never came."""
        left = self.store.unanswered(server, room)
        token = left.token if left is not None else new_token()
        held = HeldSeat(server=server, room=room, seat=None, name=name, token=token)
        return Seating(self.store, held)


def room_rules(options: Namespace) -> dict[str, Any]:
    """The rules asked for: the variant, and what differs from it. Raises ValueError, in words."""
    rules: dict[str, Any] = {"variant": options.variant or "scopa"}
    if options.players is not None:
        rules["players"] = options.players
    return rules | pairs(options.rule)


def _invite(typed: str) -> Invite:
    """An invite, or a code alone. Raises ValueError, in words."""
    try:
        return read_invite(typed)
    except ValueError as wrong:
        raise ValueError(_without_beginning(typed.strip()) or str(wrong)) from None


def _without_beginning(typed: str) -> str | None:
    """What to type, where an invite lacks nothing but its first word."""
    secure, plain = f"wss://{typed}", f"ws://{typed}"
    if "://" in typed:
        return None
    try:
        read_invite(secure)
    except ValueError:
        return None
    whole = plain if is_own(plain) else f"{secure}, or {plain} for a server without TLS"
    return f"that invite lacks its beginning: type {whole}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
