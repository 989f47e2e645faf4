"""The three distributions: what they hold, need and are called."""

import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import scopa_protocol

ROOT = Path(__file__).parents[2]
MEMBERS = {
    "scopa-protocol": ROOT / "protocol",
    "scopa-server": ROOT / "server",
    "scopa-cli": ROOT / "clients" / "cli",
}
SCRIPTS = {
    "scopa-protocol": {},
    "scopa-server": {"scopa-server": "scopa_server.__main__:main"},
    "scopa-cli": {"scopa": "scopa_cli.__main__:main"},
}


class Wheel(NamedTuple):
    """A wheel as it was built: the names in it and its metadata."""

    names: list[str]
    metadata: Message
    scripts: dict[str, str]


def project(folder: Path) -> dict[str, Any]:
    """The `[project]` table of a distribution."""
    with (folder / "pyproject.toml").open("rb") as file:
        return dict(tomllib.load(file)["project"])


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Wheel]:
    """All three, each built from its own source archive without a network."""
    out = tmp_path_factory.mktemp("dist")
    for folder in MEMBERS.values():
        command = [sys.executable, "-m", "build", "--no-isolation"]
        done = subprocess.run(
            [*command, "--outdir", out, folder], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(out.glob("*.tar.gz"))) == len(MEMBERS)
    return {name: read_wheel(next(out.glob(f"{module(name)}-*.whl"))) for name in MEMBERS}


def read_wheel(path: Path) -> Wheel:
    """What stands in a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
        head = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        scripts = f"{info}/entry_points.txt"
        lines = archive.read(scripts).decode().splitlines() if scripts in names else []
    pairs = [line.partition(" = ") for line in lines if " = " in line]
    return Wheel(names, head, {name: target for name, _, target in pairs})


def module(name: str) -> str:
    """The one package that a distribution installs."""
    return name.replace("-", "_")


def needs(requirements: list[str]) -> set[str]:
    """Names of the requirements that hold here without any extra."""
    wanted = [Requirement(text) for text in requirements]
    return {
        canonicalize_name(one.name)
        for one in wanted
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }


def closure(name: str) -> set[str]:
    """Everything that installing a distribution brings along."""
    found: set[str] = set()
    todo = {name}
    while todo:
        one = todo.pop()
        found.add(one)
        todo |= needs(metadata.requires(one) or []) - found
    return found - {name}


def test_there_is_one_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = [line.split()[1].strip("[]") for line in changelog.splitlines() if line[:3] == "## "]
    top = next(version for version in heads if version != "Unreleased")
    versions = {project(folder)["version"] for folder in MEMBERS.values()}
    assert versions == {scopa_protocol.VERSION} == {top}


def test_ours_need_exactly_their_own_version_of_the_protocol() -> None:
    wanted = f"scopa-protocol=={scopa_protocol.VERSION}"
    for name in ("scopa-server", "scopa-cli"):
        assert wanted in project(MEMBERS[name])["dependencies"]


@pytest.mark.parametrize("name", MEMBERS)
def test_what_is_installed_is_this_checkout(name: str) -> None:
    assert metadata.version(name) == project(MEMBERS[name])["version"]
    wanted = [Requirement(text) for text in project(MEMBERS[name])["dependencies"]]
    for one in wanted:
        assert metadata.version(one.name) in one.specifier, "make lock has not been run"


@pytest.mark.parametrize("name", MEMBERS)
def test_a_wheel_holds_its_own_package_and_its_licence(wheels: dict[str, Wheel], name: str) -> None:
    names = wheels[name].names
    info = next(one.split("/")[0] for one in names if ".dist-info/" in one)
    assert {one.split("/")[0] for one in names} == {module(name), info}
    assert f"{module(name)}/py.typed" in names
    assert f"{info}/licenses/LICENSE" in names
    assert not [one for one in names if "test" in one or one.endswith((".pyc", ".toml"))]


@pytest.mark.parametrize("name", MEMBERS)
def test_a_wheel_holds_every_module_of_its_package(wheels: dict[str, Wheel], name: str) -> None:
    source = MEMBERS[name] / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    assert modules <= set(wheels[name].names)


@pytest.mark.parametrize("name", MEMBERS)
def test_a_wheel_says_what_it_is(wheels: dict[str, Wheel], name: str) -> None:
    head = wheels[name].metadata
    assert (head["Name"], head["Version"]) == (name, scopa_protocol.VERSION)
    assert (head["License-Expression"], head["Requires-Python"]) == ("MIT", ">=3.11")
    assert head["Summary"]
    assert wheels[name].scripts == SCRIPTS[name]


def test_the_protocol_needs_msgspec_alone(wheels: dict[str, Wheel]) -> None:
    assert needs(wheels["scopa-protocol"].metadata.get_all("Requires-Dist", [])) == {"msgspec"}


def test_a_client_is_small(wheels: dict[str, Wheel]) -> None:
    wanted = {"msgspec", "platformdirs", "scopa-protocol", "wcwidth", "websockets"}
    assert needs(wheels["scopa-cli"].metadata.get_all("Requires-Dist", [])) == wanted
    assert closure("scopa-cli") == wanted
