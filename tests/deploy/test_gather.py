"""What the image is made of: files where they were, their links, nothing that isn't used."""

import subprocess
import sys
from pathlib import Path

import pytest

import gather


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A system as distributions have it: /lib a link, a library behind two more."""
    tree = tmp_path / "system"
    (tree / "usr/lib/arch").mkdir(parents=True)
    (tree / "lib").symlink_to("usr/lib")
    library = tree / "usr/lib/arch/libone.so.1.2"
    library.write_text("one")
    library.chmod(0o755)
    (tree / "usr/lib/arch/libone.so.1").symlink_to("libone.so.1.2")
    (tree / "usr/lib/arch/libone.so").symlink_to(tree / "lib/arch/libone.so.1")
    (tree / "usr/lib/arch/libtwo.so").write_text("two")
    return tree


def _brought(into: Path, tree: Path) -> dict[str, str]:
    """What is there: files as what stands in them, links as where they lead."""
    root = into / tree.relative_to("/")
    return {
        str(path.relative_to(root)): str(path.readlink()) if path.is_symlink() else path.read_text()
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_a_file_comes_with_every_link_that_leads_to_it(tree: Path, tmp_path: Path) -> None:
    into = tmp_path / "image"
    for _ in range(2):
        gather.bring(tree / "lib/arch/libone.so", into)
        assert _brought(into, tree) == {
            "lib": "usr/lib",
            "usr/lib/arch/libone.so": f"{tree}/lib/arch/libone.so.1",
            "usr/lib/arch/libone.so.1": "libone.so.1.2",
            "usr/lib/arch/libone.so.1.2": "one",
        }
    copied = into / tree.relative_to("/") / "usr/lib/arch/libone.so.1.2"
    assert copied.stat().st_mode == (tree / "usr/lib/arch/libone.so.1.2").stat().st_mode


def test_a_folder_comes_whole_and_a_link_to_nowhere_alone(tree: Path, tmp_path: Path) -> None:
    into = tmp_path / "image"
    (tree / "usr/lib/lost").symlink_to("nowhere")
    gather.bring(tree / "usr", into)
    gather.bring(tree / "not/there", into)
    assert _brought(into, tree).keys() == {
        "usr/lib/lost",
        "lib",
        *(f"usr/lib/arch/lib{name}" for name in ("one.so.1.2", "one.so.1", "one.so", "two.so")),
    }


def test_what_is_not_used_of_python_stays_behind(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ensurepip/pip.whl", "test/a.py", "asyncio/b.py", "site-packages/pip/c.py"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text("")
    monkeypatch.setattr(gather, "STDLIB", tree)
    gather.bring(tree, tmp_path / "image")
    found = _brought(tmp_path / "image", tree)
    assert "asyncio/b.py" in found
    assert not [name for name in found if name.startswith(("ensurepip", "test", "site-packages"))]


@pytest.mark.skipif(sys.platform != "linux", reason="an image is Linux's")
def test_python_starts_with_the_libraries_that_are_found() -> None:
    python = Path(sys.executable).resolve()
    names = [path.name for path in gather.libraries([python])]
    assert any(name.startswith("ld-linux") for name in names)
    assert {"libc.so.6", "libgcc_s.so.1"} <= set(names)


@pytest.mark.parametrize("path", ["/lib/arch/libone.so.1", "/usr/lib/arch/libone.so.1"])
def test_a_package_is_found_by_either_name_of_its_file(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def dpkg(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.extend(words)
        return subprocess.CompletedProcess(words, 1, f"libone:amd64, other: {path}\none: /x\n", "")

    monkeypatch.setattr(subprocess, "run", dpkg)
    assert gather.packages([Path("/usr/lib/arch/libone.so.1")]) == ["libone", "one"]
    assert path in asked
