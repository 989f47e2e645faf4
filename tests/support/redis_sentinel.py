"""A master, its replica and a sentinel that sees to them, for the tests."""

import subprocess
import time
from pathlib import Path

from support.redis_server import RedisServer, free_port

_PATIENCE = 60.0
_UNHURRIED, _QUICK = 60_000, 500
"""Milliseconds after which a silent master counts as gone: a busy machine's may be silent long."""
SERVICE = "scopa"


class RedisSentinel:
    """The three of them. `url` names a sentinel that isn't there before the one that is."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        for name in ("master", "replica", "sentinel"):
            (folder / name).mkdir(parents=True)
        self.master = RedisServer(program, folder / "master", repl_diskless_sync_delay="0")
        self.replica = RedisServer(program, folder / "replica")
        self._sentinel: subprocess.Popen[bytes] | None = None
        self.eye = RedisServer(program, folder)

    @property
    def url(self) -> str:
        """The URL to open a journal with."""
        return f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{self.eye.port}/{SERVICE}/0"

    def start(self) -> None:
        """Start all, the replica in step with its master."""
        self.master.start()
        self.replica.start()
        self.replica.ask("REPLICAOF", "127.0.0.1", str(self.master.port))
        self._await(self.replica, "INFO replication", b"master_link_status:up")
        self.eye.port = free_port()
        settings = self._folder / "sentinel" / "sentinel.conf"
        settings.write_text(
            f"port {self.eye.port}\nbind 127.0.0.1\ndir {self._folder}/sentinel\n"
            f"logfile {self._folder}/sentinel/log\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.master.port} 1\n"
            f"sentinel down-after-milliseconds {SERVICE} {_UNHURRIED}\n"
            f"sentinel failover-timeout {SERVICE} 3000\n"
        )
        self._sentinel = subprocess.Popen(
            [self._program, settings, "--sentinel"], stdout=subprocess.DEVNULL
        )
        self._await(self.eye, f"SENTINEL REPLICAS {SERVICE}", b"master-link-status\r\n$2\r\nok")

    def kill_master(self) -> None:
        """Kill the master; only from now on the sentinel is quick to replace one."""
        answer = self.eye.ask("SENTINEL", "SET", SERVICE, "down-after-milliseconds", str(_QUICK))
        assert answer == b"+OK\r\n"
        self.master.kill()

    def replace_master(self) -> None:
        """Let the replica take over though the master is well, and goes on as master."""
        self.master.ask("ACL", "SETUSER", "default", "-replicaof", "-slaveof")
        self.promote()

    def promote(self) -> None:
        """Let the replica take over, whatever the master does, until the sentinel says so."""
        self._await(self.eye, f"SENTINEL FAILOVER {SERVICE}", b"+OK")
        named = f"\r\n{self.replica.port}\r\n".encode()
        self._await(self.eye, f"SENTINEL GET-MASTER-ADDR-BY-NAME {SERVICE}", named)

    def stop(self) -> None:
        """End all of them at once."""
        if self._sentinel is not None:
            self._sentinel.kill()
            self._sentinel.wait()
        self.master.kill()
        self.replica.kill()

    def _await(self, server: RedisServer, command: str, answer: bytes) -> None:
        end = time.monotonic() + _PATIENCE
        while True:
            assert time.monotonic() < end, f"{command} doesn't say {answer!r}"
            try:
                if answer in server.ask(*command.split()):
                    return
            except OSError:
                pass
            time.sleep(0.05)
