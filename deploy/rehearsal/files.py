"""Files that nothing here runs, checked by the programs that know them, where there are such."""

import shutil
import sys
from pathlib import Path

from rehearsal.machine import Machine, say

CHECKS = (
    ("alert rules", "prometheus", ("promtool", "check", "rules", "alerts.yml")),
    ("alerts", "prometheus", ("promtool", "test", "rules", "alerts.test.yml")),
    ("Kubernetes", "kubernetes", ("kubernetes-validate", "--strict", "*.yaml")),
)
NOT_THEIRS = "kustomization.yaml"
"""A file for kubectl alone; it is no object of Kubernetes."""


def check(machine: Machine, tree: Path) -> None:
    """Raises Failed if a file isn't as it should be; says what was not checked."""
    say("Not run here: the Kubernetes manifests, the Grafana dashboard.")
    for what, place, (program, *words) in CHECKS:
        beside = Path(sys.executable).parent / program
        found = shutil.which(program) or (str(beside) if beside.is_file() else None)
        if found is None:
            say(f"NOT CHECKED: {what}, since there is no {program}.")
            continue
        folder = tree / "deploy" / place
        given = [
            str(path)
            for word in words
            for path in (sorted(folder.glob(word)) if "." in word else [word])
            if not str(path).endswith(NOT_THEIRS)
        ]
        machine.run(found, *given)
        say(f"{program} finds nothing wrong: {what}.")
