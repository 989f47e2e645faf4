"""What is committed, and what isn't."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Put together here, so that this file doesn't hold what it looks for.
HOSTS = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com"]
ADDRESSES = re.compile("|".join([*map(re.escape, HOSTS), r"index-url[ =]+\S*:/" + "/"]))
HOMES = re.compile("|".join(f"/{home}/" + r"\w" for home in ("home", "Users", "root")))


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every committed text file by its name."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.is_file()
    }


@pytest.mark.parametrize("pattern", [ADDRESSES, HOMES], ids=["registry", "home"])
def test_no_file_names_an_address_that_is_not_ours(
    texts: dict[str, str], pattern: re.Pattern[str]
) -> None:
    assert [name for name, text in texts.items() if pattern.search(text)] == []


def test_no_lock_of_another_tool_is_committed(texts: dict[str, str]) -> None:
    others = {"uv.lock", "pylock.toml", "poetry.lock", "Pipfile.lock", "pdm.lock"}
    assert [name for name in texts if name.rsplit("/", 1)[-1] in others] == []


def test_nothing_made_is_committed(texts: dict[str, str]) -> None:
    made = re.compile(r"^data/|(^|/)(\.venv|dist|build|__pycache__|[^/]*\.egg-info)/")
    assert [name for name in texts if made.search(name)] == []


@pytest.mark.parametrize("name", [".ci/run", "requirements/install"])
def test_a_script_can_be_run(name: str) -> None:
    assert os.access(ROOT / name, os.X_OK)


def test_the_check_before_merging_is_what_developers_run() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert [line for line in script.splitlines() if line.startswith("make ")] == [
        "make check",
        "make test",
    ]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert re.findall(r"- run: (.*)", workflow) == [".ci/run"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/workflows").glob("*")), ids=lambda p: p.name
)
def test_a_workflow_runs_what_it_was_written_for(path: Path) -> None:
    workflow = path.read_text(encoding="utf-8")
    assert not re.search(r"uses: \S+@(?![0-9a-f]{40} )", workflow)
    assert "permissions:\n  contents: read\n" in workflow
    assert workflow.count("persist-credentials: false") == workflow.count("actions/checkout@")


def test_every_lock_is_audited() -> None:
    workflow = (ROOT / ".github/workflows/audit.yml").read_text(encoding="utf-8")
    [audit] = re.findall(r"- run: (pip-audit .*)", workflow)
    # The development lock holds all of the other (test_locks).
    assert "--strict" in audit
    assert audit.endswith("--requirement requirements/dev.txt")
