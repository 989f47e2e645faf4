"""The messages as documents for other languages: a JSON Schema and an AsyncAPI description."""

from typing import Any, Final, cast, get_args

import msgspec
from msgspec import Struct

from . import VERSION, WIRE_VERSION
from .cards import CARD_PATTERN, Card
from .codec import MAX_FRAME, SUBPROTOCOLS
from .commands import MOST, ClientCommand, Overrides
from .frames import ServerFrame

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ASYNCAPI: Final = "3.0.0"
_OVERRIDES: Final = msgspec.json.schema(Overrides)
_FORTY: Final = msgspec.json.schema(Card)["enum"]


def json_schema() -> dict[str, Any]:
    """Every message under `$defs`, where `ClientCommand` and `ServerFrame` are the unions."""
    (command, frame), parts = _parts("#/$defs/{name}")
    return {
        "$schema": DIALECT,
        "title": f"Scopa wire protocol, version {WIRE_VERSION}",
        "oneOf": [{"$ref": "#/$defs/ClientCommand"}, {"$ref": "#/$defs/ServerFrame"}],
        "$defs": {**parts, "ClientCommand": command, "ServerFrame": frame},
    }


def asyncapi() -> dict[str, Any]:
    """The one channel, what a client may send on it and what it may receive."""
    _, parts = _parts("#/components/schemas/{name}")
    sent, received = get_args(ClientCommand), get_args(ServerFrame)
    return {
        "asyncapi": ASYNCAPI,
        "info": {
            "title": f"Scopa wire protocol, version {WIRE_VERSION}",
            "version": VERSION,
            "description": (
                f"One map a frame. Subprotocols: {', '.join(SUBPROTOCOLS)}. "
                f"A client's frame has at most {MAX_FRAME} bytes."
            ),
        },
        "channels": {
            "table": {
                "address": "/ws",
                "messages": {_tag(kind): _message_ref(kind) for kind in (*sent, *received)},
            }
        },
        "operations": {
            "send": _operation("send", sent),
            "receive": _operation("receive", received),
        },
        "components": {
            "messages": {_tag(kind): _message(kind) for kind in (*sent, *received)},
            "schemas": parts,
        },
    }


def _parts(reference: str) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    kinds = [ClientCommand, ServerFrame]
    unions, parts = msgspec.json.schema_components(kinds, ref_template=reference)
    return unions, _sensible(parts)


def _sensible(part: Any) -> Any:
    """A schema that says of overrides what makes sense, not what gets an answer of its own.

    And of cards how they are written, not all forty each time.
    """
    if part == _OVERRIDES:
        value = {"type": ["boolean", "integer", "string"]}
        return {"type": "object", "additionalProperties": value, "maxProperties": MOST}
    if isinstance(part, list):
        return [_sensible(one) for one in cast("list[object]", part)]
    if isinstance(part, dict):
        fields = cast("dict[str, Any]", part)
        if fields.get("enum") == _FORTY:
            kept = {name: value for name, value in fields.items() if name != "enum"}
            return {**kept, "type": "string", "pattern": CARD_PATTERN}
        return {name: _sensible(one) for name, one in fields.items()}
    return part


def _tag(kind: type[Struct]) -> str:
    # `history` is both asked and answered.
    tag = str(kind.__struct_config__.tag)
    return f"{tag}_answer" if kind.__name__ == "HistoryFrame" else tag


def _message(kind: type[Struct]) -> dict[str, Any]:
    return {
        "name": str(kind.__struct_config__.tag),
        "summary": (kind.__doc__ or "").partition("\n")[0],
        "payload": {"$ref": f"#/components/schemas/{kind.__name__}"},
    }


def _message_ref(kind: type[Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/messages/{_tag(kind)}"}


def _operation(action: str, kinds: tuple[type[Struct], ...]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/table"},
        "messages": [{"$ref": f"#/channels/table/messages/{_tag(kind)}"} for kind in kinds],
    }
