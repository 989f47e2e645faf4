"""Alerts and the dashboard ask for metrics that the server has, by labels that it gives."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_server.metrics import OK, Append, Metrics, Refusal

DEPLOY = Path(__file__).parents[2] / "deploy"
BUILT_IN = {"up"}
"""What Prometheus itself knows of every job."""
VALUES: dict[str, set[str]] = {
    "outcome": {OK, *ErrorCode, *Append},
    "reason": set(map(str, Refusal)),
    "code": {str(int(code)) for code in CloseCode},
    "type": {"play"},
    "job": {"scopa", "$job"},
    "instance": {"$instance"},
}


def expressions() -> Iterator[Any]:
    """Everything that is asked of Prometheus."""
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text(encoding="utf-8"))
    for group in alerts["groups"]:
        for rule in group["rules"]:
            yield pytest.param(rule["expr"], id=rule["alert"])
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield pytest.param(target["expr"], id=f"{panel['title']}-{target['refId']}")


def dashboard() -> Any:
    """The dashboard."""
    return json.loads((DEPLOY / "grafana/scopa-server.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def samples() -> dict[str, set[str]]:
    """The labels of every sample that the server shows."""
    metrics = Metrics()
    metrics.connected()
    metrics.disconnected(None)
    metrics.answered("play")
    metrics.appended(0.1)
    metrics.waiting(1)
    found: dict[str, set[str]] = {name: set() for name in BUILT_IN}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.mark.parametrize("expression", list(expressions()))
def test_a_metric_exists(expression: str, samples: dict[str, set[str]]) -> None:
    asked = re.findall(r"\b(up|(?:scopa|process)_\w+)(?:\{(.*?)\})?", expression)
    assert asked
    for name, selector in asked:
        assert name in samples
        for label, values in re.findall(r'(\w+)(?:=|!=|=~)"(.*?)"', selector):
            assert label in samples[name] | {"job", "instance"}
            assert set(values.split("|")) <= VALUES[label]
    for grouped in re.findall(r"by \((.*?)\)", expression):
        known = {"instance"}.union(*(samples[name] for name, _ in asked))
        assert set(grouped.split(", ")) <= known


def test_panels_are_told_apart() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)


def test_an_alert_says_what_is_wrong_and_how_bad() -> None:
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text(encoding="utf-8"))
    for rule in alerts["groups"][0]["rules"]:
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"].keys() == {"summary", "description"}
