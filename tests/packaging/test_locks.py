"""The locked requirements: everything by its hash, nothing by its address."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "requirements"
LOCKS = ["run.txt", "dev.txt"]
PIN = re.compile(r"[a-z0-9][a-z0-9._-]*(\[[a-z,-]+\])?==[0-9][^ ]*( ; .+)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pins(name: str) -> dict[str, list[str]]:
    """What a lock pins, and the hashes that it accepts for each."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.strip()[:1] != "#"]
    found = [line.split(" --hash=") for line in lines if line]
    return {pin.strip(): [f"--hash={one.strip()}" for one in hashes] for pin, *hashes in found}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_pins_and_hashes(name: str) -> None:
    locked = pins(name)
    assert locked
    assert [pin for pin in locked if not PIN.fullmatch(pin)] == []
    assert [pin for pin, hashes in locked.items() if not hashes] == []
    assert all(HASH.fullmatch(one) for hashes in locked.values() for one in hashes)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_address(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert not re.search(r"://|@|--(extra-)?index|--find-links|file:", text)


def test_development_adds_to_what_runs_and_changes_nothing() -> None:
    run, dev = pins("run.txt"), pins("dev.txt")
    assert run.items() <= dev.items()
    assert not [pin for pin in run if pin.startswith(("mypy", "pyright", "pytest", "ruff"))]


def test_nothing_of_ours_is_locked() -> None:
    assert not [pin for name in LOCKS for pin in pins(name) if pin.startswith("scopa")]
