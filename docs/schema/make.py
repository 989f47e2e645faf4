"""Write the schema documents beside this file anew: `make docs`."""

import json
import sys
from pathlib import Path
from typing import Any, Final

from scopa_protocol.schema import asyncapi, json_schema

HERE: Final = Path(__file__).parent
DOCUMENTS: Final[dict[str, Any]] = {
    "scopa.v1.schema.json": json_schema,
    "asyncapi.json": asyncapi,
}


def written(name: str) -> str:
    """A document's text."""
    return json.dumps(DOCUMENTS[name](), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Exit status."""
    for name in DOCUMENTS:
        (HERE / name).write_text(written(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
