"""Processor time and memory as the operating system counts them."""

import os
import subprocess
import sys
import time

from scopa_bench.usage import busy_seconds, cpu_seconds, family, memory_bytes


def test_processor_time_is_that_of_all_threads() -> None:
    before, own = cpu_seconds([os.getpid()]), time.process_time()
    while time.process_time() < own + 0.05:
        pass
    assert cpu_seconds([os.getpid()]) - before >= 0.05
    assert busy_seconds() > 0


def test_a_family_is_a_process_and_what_it_started() -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", f"print(flush=True); {script}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        end = time.monotonic() + 60
        while len(found := family(parent.pid)) < 2:
            assert time.monotonic() < end
        assert found[0] == parent.pid
        assert memory_bytes(found) > memory_bytes(found[:1]) > 0
        assert parent.stdin is not None
        parent.stdin.write(b"\n")
