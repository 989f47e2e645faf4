"""The rule vectors: cases as data, shared with anyone who writes another server."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "data" / "vectors"


def load(name: str) -> Any:
    """Read a file of cases by its name without the ending."""
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def name(case: dict[str, Any]) -> str:
    """Name a case for a test's report."""
    return f"{case.get('variant', '')} {case.get('name', '')}".strip() or "case"
