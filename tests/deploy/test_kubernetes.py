"""The manifests for Kubernetes agree with the server, the image and each other."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scopa_server.config import parse
from scopa_server.live.keeping import STOP_SECONDS

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
Thing = dict[str, Any]


@pytest.fixture(scope="module")
def things() -> dict[tuple[str, str], Thing]:
    """Every object by kind and name, of the files that kustomization.yaml lists."""
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in FOLDER.glob("*.yaml")} == {*listed, "kustomization.yaml"}
    found = [t for name in listed for t in yaml.safe_load_all((FOLDER / name).read_text())]
    return {(thing["kind"], thing["metadata"]["name"]): thing for thing in found}


def pod(thing: Thing) -> Thing:
    """What the pods of a Deployment or StatefulSet are."""
    spec: Thing = thing["spec"]["template"]["spec"]
    return spec


@pytest.fixture(scope="module")
def server(things: dict[tuple[str, str], Thing]) -> Thing:
    """The server's pods."""
    return pod(things["Deployment", "scopa-server"])


def test_there_is_always_a_server_that_is_ready(
    things: dict[tuple[str, str], Thing], server: Thing
) -> None:
    spec = things["Deployment", "scopa-server"]["spec"]
    assert spec["replicas"] > 1
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
    }
    mine = spec["selector"]
    assert things["PodDisruptionBudget", "scopa-server"]["spec"] == {
        "maxUnavailable": 1,
        "selector": mine,
    }
    (spread,) = server["topologySpreadConstraints"]
    assert spread["labelSelector"] == mine


def test_a_pod_has_time_to_end(server: Thing) -> None:
    (container,) = server["containers"]
    python, _, script = container["lifecycle"]["preStop"]["exec"]["command"]
    assert f"ENV PATH={Path(python).parent} " in (FOLDER.parent / "Dockerfile").read_text()
    pause = re.fullmatch(r"import time; time\.sleep\((\d+)\)", script)
    assert pause
    # The rooms' own patience, that of connections, and some more.
    assert int(pause[1]) + STOP_SECONDS + 10 < server["terminationGracePeriodSeconds"]


def test_settings_are_the_servers(things: dict[tuple[str, str], Thing], server: Thing) -> None:
    settings = dict(things["ConfigMap", "scopa-server"]["data"])
    path = settings.pop("SCOPA_STORE_FILE")
    assert parse([], settings).warnings == ()
    assert server["enableServiceLinks"] is False
    (mount,) = server["containers"][0]["volumeMounts"]
    assert path == f"{mount['mountPath']}/store"


def test_ports_are_those_of_the_image(server: Thing) -> None:
    recipe = (FOLDER.parent / "Dockerfile").read_text()
    exposed = re.findall(r"^EXPOSE (.*)$", recipe, re.MULTILINE)
    container = server["containers"][0]
    assert [" ".join(str(p["containerPort"]) for p in container["ports"])] == exposed
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "admin"}
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "admin"}


def test_pods_are_confined(things: dict[tuple[str, str], Thing], server: Thing) -> None:
    user = re.search(r"^USER (\d+)", (FOLDER.parent / "Dockerfile").read_text(), re.MULTILINE)
    assert user
    assert server["securityContext"]["runAsUser"] == int(user[1])
    for one in (server, pod(things["StatefulSet", "redis"])):
        assert one["automountServiceAccountToken"] is False
        assert one["securityContext"]["runAsNonRoot"] is True
        for container in one["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_redis_is_set_as_in_the_compose_file(things: dict[tuple[str, str], Thing]) -> None:
    here = things["ConfigMap", "redis"]["data"]["redis.conf"].splitlines()
    there = (FOLDER.parent / "redis.conf").read_text().splitlines()
    said = {line for line in there if line and not line.startswith(("#", "include"))}
    assert said == {line for line in here if not line.startswith("include")}


def test_names_lead_somewhere(things: dict[tuple[str, str], Thing]) -> None:
    labels = {
        tuple(thing["spec"]["template"]["metadata"]["labels"].items())
        for (kind, _), thing in things.items()
        if kind in {"Deployment", "StatefulSet"}
    }
    for (kind, _), thing in things.items():
        if kind == "Service":
            assert tuple(thing["spec"]["selector"].items()) in labels
        if kind == "NetworkPolicy":
            assert tuple(thing["spec"]["podSelector"]["matchLabels"].items()) in labels
    (rule,) = things["Ingress", "scopa-server"]["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    ports = things["Service", backend["name"]]["spec"]["ports"]
    assert backend["port"]["name"] in {port["name"] for port in ports}
    assert rule["http"]["paths"][0]["path"] == "/ws"
    host = things["ConfigMap", "scopa-server"]["data"]["SCOPA_PUBLIC_URL"].removeprefix("wss://")
    assert rule["host"] == host
