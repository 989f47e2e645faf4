"""What an operator should know about the settings of a Redis."""

import re
from typing import Any

SETTINGS = ("maxmemory-policy", "appendonly", "save")
"""The settings to ask for."""

UNREACHED = "One of the store's servers doesn't answer; its rooms wait."

_FLOOR = (7, 0)
_ENDANGERED = "may be evicted when memory is full; set maxmemory-policy to noeviction"
_ONE_OF_MANY = (
    "The store is one server of a Redis Cluster, which keeps some rooms only; "
    "name it with redis+cluster://."
)
_UNSEEN = (
    "The store doesn't show its settings; make sure that maxmemory-policy is noeviction "
    "and that it persists (appendonly yes)."
)


def warnings(information: Any, settings: Any, *, clustered: bool) -> list[str]:
    """Read the answers to INFO server and CONFIG GET, None where they were refused.

    `clustered`: whether the store was named as a cluster.
    """
    found = _version(information)
    if not clustered and re.search(rb"(redis|server)_mode:cluster", information or b""):
        found.append(_ONE_OF_MANY)
    if settings is None:
        return [*found, _UNSEEN]
    words = [word.decode() for word in settings]
    values = dict(zip(words[::2], words[1::2], strict=True))
    return [*found, *_eviction(values), *_persistence(values)]


def _version(information: Any) -> list[str]:
    match = re.search(rb"redis_version:(\d+)\.(\d+)", information or b"")
    if match is None or (int(match[1]), int(match[2])) >= _FLOOR:
        return []
    return [f"The store is Redis {match[1].decode()}.{match[2].decode()}; it must be 7.0 or later."]


def _eviction(values: dict[str, str]) -> list[str]:
    policy = values.get("maxmemory-policy", "noeviction")
    if policy == "noeviction":
        return []
    return [f"With maxmemory-policy {policy} running matches {_ENDANGERED}."]


def _persistence(values: dict[str, str]) -> list[str]:
    if values.get("appendonly", "yes") == "yes":
        return []
    if values.get("save"):
        return ["The store saves from time to time only; set appendonly to yes."]
    return ["The store keeps nothing over its restart; set appendonly to yes."]
