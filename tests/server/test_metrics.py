"""What is counted, and that labels stay few."""

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families

from scopa_protocol.codes import ErrorCode
from scopa_server.metrics import CONTENT_TYPE, Append, Metrics, Refusal, merge


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    """A sample as a scrape would read it."""
    return metrics.registry.get_sample_value(name, labels)


def test_connections_are_counted() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.connected()
    metrics.disconnected(4001)
    metrics.disconnected(None)
    assert value(metrics, "scopa_connections_open") == 1
    assert value(metrics, "scopa_connections_total") == 3
    assert value(metrics, "scopa_closes_total", code="4001") == 1
    assert value(metrics, "scopa_closes_total", code="1006") == 1


def test_rooms_are_counted() -> None:
    metrics = Metrics()
    metrics.room_opened()
    metrics.room_entered()
    metrics.room_entered()
    metrics.room_left()
    metrics.room_reloaded()
    metrics.waiting(3)
    metrics.stood_in()
    assert value(metrics, "scopa_rooms_opened_total") == 1
    assert value(metrics, "scopa_rooms_live") == 1
    assert value(metrics, "scopa_room_reloads_total") == 1
    assert value(metrics, "scopa_inbox_depth_bucket", le="5.0") == 1
    assert value(metrics, "scopa_inbox_depth_bucket", le="2.0") == 0
    assert value(metrics, "scopa_stand_in_plays_total") == 1


async def test_tasks_are_counted() -> None:
    metrics = Metrics()
    before = value(metrics, "scopa_tasks") or 0
    waiting = asyncio.create_task(asyncio.Event().wait())
    assert value(metrics, "scopa_tasks") == before + 1
    waiting.cancel()


def test_outside_a_loop_there_are_no_tasks() -> None:
    assert value(Metrics(), "scopa_tasks") == 0


def test_commands_are_counted_by_type_and_outcome() -> None:
    metrics = Metrics()
    metrics.answered("play")
    metrics.answered("play", ErrorCode.NOT_YOUR_TURN)
    metrics.answered("say", "talk_off")
    assert value(metrics, "scopa_commands_total", type="play", outcome="ok") == 1
    assert value(metrics, "scopa_commands_total", type="play", outcome="not_your_turn") == 1
    assert value(metrics, "scopa_commands_total", type="say", outcome="talk_off") == 1


def test_frames_are_counted() -> None:
    metrics = Metrics()
    metrics.frames_sent.count += 2
    metrics.bytes_sent.count += 120
    assert value(metrics, "scopa_frames_sent_total") == 2
    assert value(metrics, "scopa_sent_bytes_total") == 120


def test_appends_are_counted() -> None:
    metrics = Metrics()
    metrics.appended(0.004)
    metrics.appended(2, Append.FAILED)
    assert value(metrics, "scopa_commits_total", outcome="stored") == 1
    assert value(metrics, "scopa_commits_total", outcome="failed") == 1
    assert value(metrics, "scopa_append_seconds_bucket", le="0.005") == 1
    assert value(metrics, "scopa_append_seconds_sum") == pytest.approx(2.004)


@pytest.mark.parametrize("reason", Refusal)
def test_refusals_are_counted(reason: Refusal) -> None:
    metrics = Metrics()
    assert value(metrics, "scopa_handshakes_refused_total", reason=reason.value) == 0
    metrics.refused(reason)
    assert value(metrics, "scopa_handshakes_refused_total", reason=reason.value) == 1


def test_labels_stay_few_whatever_comes() -> None:
    metrics = Metrics()
    for number in range(100):
        metrics.answered(f"KRTNWXY{number}", f"because {number}")
        metrics.disconnected(3000 + number)
    assert value(metrics, "scopa_commands_total", type="other", outcome="other") == 100
    assert value(metrics, "scopa_closes_total", code="other") == 100
    assert b"KRTNWXY" not in metrics.render()


def test_it_renders_what_a_scrape_reads() -> None:
    metrics = Metrics()
    metrics.connected()
    families = {
        family.name: family for family in text_string_to_metric_families(metrics.render().decode())
    }
    assert families["scopa_connections_open"].samples[0].value == 1
    assert all(family.documentation for family in families.values())
    assert not [name for name in families if name.endswith("_created")]
    assert CONTENT_TYPE.startswith("text/plain; version=")


def test_servers_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.connected()
    assert value(other, "scopa_connections_open") == 0


def test_several_processes_make_one_page() -> None:
    one, other = Metrics(), Metrics()
    one.connected()
    other.answered("play", "ok")
    page = merge({1: (one.render(), 0), 2: (other.render(), 3), 3: (None, 1)}).decode()
    lines = page.splitlines()
    assert len(lines) == len(set(lines))
    assert {
        'scopa_connections_open{worker="1"} 1.0',
        'scopa_connections_open{worker="2"} 0.0',
        'scopa_commands_total{outcome="ok",type="play",worker="2"} 1.0',
        'scopa_worker_up{worker="1"} 1.0',
        'scopa_worker_up{worker="3"} 0.0',
        'scopa_worker_restarts_total{worker="2"} 3.0',
    } <= set(lines)
    assert {f.name for f in text_string_to_metric_families(page)} > {
        f.name for f in text_string_to_metric_families(one.render().decode())
    }
