"""Who may import whom: the contracts hold, cover every part, and can break."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "protocol/src", ROOT / "server/src", ROOT / "clients/cli/src"]
RULES = ROOT / "server/src/scopa_server/rules"
PROTOCOL = ROOT / "protocol/src/scopa_protocol"

LAYERS = "app > gateway > live > room > rules, live > journal"
PURE = "Rules and rooms are pure"
# For each contract, modules that would break it and what each would import.
BREACHES = [
    ("The protocol knows nothing of ours", "scopa_protocol.breach", "scopa_server.rules"),
    ("The protocol knows nothing of ours", "scopa_protocol.breach", "scopa_cli"),
    ("A client knows only the protocol", "scopa_cli.breach", "scopa_server.rules"),
    ("The server knows no client", "scopa_server.room.breach", "scopa_cli"),
    (LAYERS, "scopa_server.gateway.breach", "scopa_server.config"),
    (LAYERS, "scopa_server.gateway.breach", "scopa_server.app"),
    (LAYERS, "scopa_server.live.breach", "scopa_server.gateway"),
    (LAYERS, "scopa_server.room.breach", "scopa_server.live"),
    (LAYERS, "scopa_server.room.breach", "scopa_server.journal"),
    (LAYERS, "scopa_server.rules.breach", "scopa_server.room"),
    (LAYERS, "scopa_server.journal.breach", "scopa_server.live"),
    (LAYERS, "scopa_server.journal.breach", "scopa_server.room"),
    (LAYERS, "scopa_server.stand_in.breach", "scopa_server.live"),
    (LAYERS, "scopa_server.stand_in.breach", "scopa_server.room"),
    (LAYERS, "scopa_server.homeless", "scopa_protocol"),
    ("The rules know nothing but themselves", "scopa_server.rules.breach", "scopa_protocol"),
    ("The rules know nothing but themselves", "scopa_server.rules.breach", "msgspec"),
    (PURE, "scopa_server.rules.breach", "random"),
    (PURE, "scopa_server.room.breach", "asyncio"),
    (PURE, "scopa_server.room.breach", "time"),
    ("The journal knows no game", "scopa_server.journal.breach", "scopa_server.rules"),
    ("A stand-in sees views only", "scopa_server.stand_in.breach", "scopa_server.rules"),
    ("Only journal/redis.py knows redis", "scopa_server.journal.breach", "redis.asyncio"),
    ("Only journal/redis.py knows redis", "scopa_server.app", "redis"),
    ("Only journal/redis.py knows redis", "scopa_cli.breach", "redis"),
    ("Only journal/redis.py knows redis", "scopa_server.journal.breach", "hiredis"),
    (
        "In the server only the gateway knows websockets",
        "scopa_server.live.breach",
        "websockets.asyncio.server",
    ),
    ("In the server only the gateway knows websockets", "scopa_protocol.breach", "websockets"),
]


def contracts() -> list[dict[str, Any]]:
    """The contracts as they stand in the root's pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["tool"]["importlinter"]["contracts"])


def verdicts(sources: list[Path]) -> dict[str, str]:
    """KEPT or BROKEN by contract, for the packages in these folders."""
    command: list[str | Path] = [
        Path(sys.executable).with_name("lint-imports"),
        "--no-cache",
        "--no-logo",
    ]
    path = os.pathsep.join(map(str, sources))
    done = subprocess.run(
        [*command, ROOT / "pyproject.toml"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"^(.+) (KEPT|BROKEN)(?: \(.*\))?$", done.stdout, re.MULTILINE))
    assert found, done.stdout + done.stderr
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three packages' sources, to spoil."""
    folder = tmp_path_factory.mktemp("sources")
    for source in SOURCES:
        shutil.copytree(source, folder, dirs_exist_ok=True)
    return folder


@contextmanager
def breach(copy: Path, name: str, imported: str) -> Iterator[None]:
    """Let the module of that name import another for a while."""
    path = copy / f"{name.replace('.', '/')}.py"
    before = path.read_text(encoding="utf-8") if path.exists() else None
    wanted = copy / f"{imported.replace('.', '/')}.py"
    stub = (
        imported.startswith("scopa_")
        and not wanted.exists()
        and not wanted.with_suffix("").is_dir()
    )
    if stub:
        wanted.write_text('"""To be imported."""\n', encoding="utf-8")
    path.write_text(f"{before or ''}\nimport {imported}\n", encoding="utf-8")
    yield
    if before is None:
        path.unlink()
    else:
        path.write_text(before, encoding="utf-8")
    if stub:
        wanted.unlink()


def test_every_contract_is_kept() -> None:
    found = verdicts(SOURCES)
    assert found == {contract["name"]: "KEPT" for contract in contracts()}


@pytest.mark.parametrize(("contract", "name", "imported"), BREACHES)
def test_a_breach_is_seen(copy: Path, contract: str, name: str, imported: str) -> None:
    with breach(copy, name, imported):
        assert verdicts([copy])[contract] == "BROKEN"


def test_every_contract_has_a_breach() -> None:
    assert {contract["name"] for contract in contracts()} == {name for name, _, _ in BREACHES}


def imports(folder: Path) -> Iterator[tuple[Path, str, int]]:
    """Each import below a folder: the file, the module named, and how many levels up it starts."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield path, alias.name, 0
            elif isinstance(node, ast.ImportFrom):
                yield path, node.module or "", node.level


def strangers(folder: Path, package: str, allowed: set[str]) -> list[str]:
    """Imports that are neither relative within a folder, nor of it, nor allowed."""
    return [
        f"{path.name}: {name}"
        for path, name, level in imports(folder)
        if not (
            0 < level <= len(path.relative_to(folder).parts)
            or (level == 0 and (name == package or name.startswith(f"{package}.")))
            or (level == 0 and name.split(".")[0] in allowed)
        )
    ]


def test_the_rules_know_the_standard_library_alone() -> None:
    assert strangers(RULES, "scopa_server.rules", set(sys.stdlib_module_names)) == []


def test_the_protocol_knows_the_standard_library_and_msgspec() -> None:
    allowed = {*sys.stdlib_module_names, "msgspec"}
    assert strangers(PROTOCOL, "scopa_protocol", allowed) == []


@pytest.mark.parametrize(
    "line", ["import msgspec", "from .. import room", "from scopa_server import room", "import x.y"]
)
def test_a_stranger_is_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "cards.py").write_text(f"import enum\nfrom . import deck\n{line}\n")
    found = strangers(tmp_path, "scopa_server.rules", set(sys.stdlib_module_names))
    assert len(found) == 1
