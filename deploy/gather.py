"""Gather into a folder what the server runs on, and nothing else: the root of its image.

`python3 gather.py FOLDER`, in the image's first stage: Python without what only people and builds
need, the server, and the libraries that both load. No shell and no package manager is among it.
"""

import compileall
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path("/")
SERVER = Path("/opt/scopa")
STDLIB = Path(sysconfig.get_path("stdlib"))
UNUSED = (
    *("test", "idlelib", "tkinter", "turtledemo", "turtle.py", "lib2to3", "pydoc_data"),
    *("ensurepip", "venv", "site-packages", "dist-packages", "config-*", "sitecustomize.py"),
    *("_tkinter.*", "_curses*", "readline.*", "nis.*", "_dbm.*", "_gdbm.*", "_crypt.*", "spwd.*"),
    *("ossaudiodev.*", "macholib", "_test*", "xx*", "__pycache__"),
)
"""Of the standard library. Some of it would bring pip, or libraries that nothing else needs."""
TRUST = ("cert.pem", "certs", "openssl.cnf")
ABOUT = ("/etc/os-release", "/etc/debian_version")
USERS = {"passwd": "scopa:x:10001:10001::/data:/nonexistent\n", "group": "scopa:x:10001:\n"}


def main(into: Path) -> None:
    """Fill an empty folder. Raises CalledProcessError where a library can't be looked up."""
    python = Path(sys.executable).resolve()
    for start in (python, STDLIB, SERVER):
        bring(start, into)
    brought = [path for path in into.rglob("*") if path.is_file() and not path.is_symlink()]
    files = [ROOT / path.relative_to(into) for path in brought]
    loaded = libraries([python, *(path for path in files if ".so" in path.name)])
    for path in (*loaded, *(Path("/usr/lib/ssl") / name for name in TRUST), *map(Path, ABOUT)):
        bring(path, into)
    # Scanners find holes in what is described there.
    for package in packages([*files, *loaded]):
        describe(package, into)
    for name, line in USERS.items():
        (into / "etc" / name).write_text(line)
    (into / "tmp").mkdir()
    (into / "tmp").chmod(0o1777)
    folders = {str(path.resolve().parent) for path in loaded}
    subprocess.run([_ldconfig(), "-r", into, *sorted(folders)], check=True)
    # The image can't be written to once it runs: what isn't compiled now would be at each start.
    compileall.compile_dir(into / STDLIB.relative_to(ROOT), quiet=1)


def bring(path: Path, into: Path) -> None:
    """Copy a file, or a folder with all that is used in it, and every link on the way there."""
    for part in (*reversed(path.parents), path):
        if part.is_symlink():
            _link(part, into / part.relative_to(ROOT))
            target = Path(os.path.normpath(part.parent / part.readlink()))
            bring(target / path.relative_to(part), into)
            return
    there = into / path.relative_to(ROOT)
    if path.is_dir():
        there.mkdir(parents=True, exist_ok=True)
        for inner in path.iterdir():
            if not _is_unused(inner):
                bring(inner, into)
    elif path.is_file() and not there.exists():
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, there)


def _link(link: Path, there: Path) -> None:
    there.parent.mkdir(parents=True, exist_ok=True)
    if not there.is_symlink():
        there.symlink_to(link.readlink())


def _is_unused(path: Path) -> bool:
    return path.is_relative_to(STDLIB) and any(fnmatch(path.name, unused) for unused in UNUSED)


def libraries(programs: Iterable[Path]) -> list[Path]:
    """What programs and libraries load, the loader included."""
    asked = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout
    known = subprocess.run([_ldconfig(), "-p"], capture_output=True, text=True, check=True).stdout
    # The C library loads this one by name, when a thread ends.
    late = re.findall(r"libgcc_s\.so\.1 .*=> (/\S+)", known)
    return sorted({Path(found) for found in [*re.findall(r"\s(/\S+) \(0x", asked), *late]})


def _ldconfig() -> str:
    """The program that knows where libraries are; not everybody has its folder on the path."""
    return shutil.which("ldconfig", path="/usr/sbin:/sbin") or "ldconfig"


def packages(files: Iterable[Path]) -> list[str]:
    """The distribution's packages that files belong to."""
    # Where /lib is a link to /usr/lib, packages may say either.
    names = {name for path in files for name in (str(path), str(path.resolve()))}
    names |= {name.removeprefix("/usr") for name in names}
    asked = ["dpkg", "-S", *sorted(names)]
    out = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return sorted(set(re.findall(r"^([^\s:,]+)", out, re.MULTILINE)))


def describe(package: str, into: Path) -> None:
    """Say which release of a package is there, and under what licence."""
    status = into / "var/lib/dpkg/status.d" / package
    status.parent.mkdir(parents=True, exist_ok=True)
    status.write_bytes(
        subprocess.run(["dpkg", "-s", package], capture_output=True, check=True).stdout
    )
    bring(Path("/usr/share/doc") / package / "copyright", into)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
