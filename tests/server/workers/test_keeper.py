"""How long a worker that dies is left alone."""

from scopa_server.workers.keeper import delay_after


def test_a_worker_that_dies_again_and_again_is_started_less_and_less_often() -> None:
    delays = [delay_after(failures) for failures in range(20)]
    assert delays[:3] == [0.1, 0.2, 0.4]
    assert delays == sorted(delays)
    assert max(delays) == 30
