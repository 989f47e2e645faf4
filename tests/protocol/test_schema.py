"""The schema documents describe the messages as they are."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from scopa_protocol.codec import JSON
from scopa_protocol.schema import asyncapi, json_schema
from support.wire import COMMANDS, FRAMES

DOCUMENTS = Path(__file__).parents[2] / "docs" / "schema"


def validator(union: str) -> Draft202012Validator:
    """Checks for one of the two unions."""
    schema = json_schema()
    return Draft202012Validator({"$ref": f"#/$defs/{union}", "$defs": schema["$defs"]})


def plain(message: Any) -> Any:
    """A message as its JSON says it."""
    return json.loads(JSON.encode(message))


def references(document: Any) -> Iterator[str]:
    """Every reference within a document."""
    if isinstance(document, dict):
        if isinstance(document.get("$ref"), str):
            yield document["$ref"]
        for value in document.values():
            yield from references(value)
    elif isinstance(document, list):
        for value in document:
            yield from references(value)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
def test_every_command_fits(command: Any) -> None:
    validator("ClientCommand").validate(plain(command))


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_every_frame_fits(frame: Any) -> None:
    validator("ServerFrame").validate(plain(frame))


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "fly"},
        {"type": "ping", "wings": 2},
        {"type": "play", "deal": 1, "turn": 1, "card": "11D", "take": []},
        {"type": "ready"},
    ],
)
def test_what_is_no_command_does_not_fit(wrong: dict[str, Any]) -> None:
    assert not validator("ClientCommand").is_valid(wrong)


@pytest.mark.parametrize("make", [json_schema, asyncapi])
def test_every_reference_leads_somewhere(make: Any) -> None:
    document = make()
    for reference in references(document):
        place = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


@pytest.mark.parametrize("name", ["scopa.v1.schema.json", "asyncapi.json"])
def test_the_documents_are_up_to_date(name: str) -> None:
    written = runpy.run_path(str(DOCUMENTS / "make.py"))["written"]
    assert (DOCUMENTS / name).read_text(encoding="utf-8") == written(name), "run make docs"
