"""The host's power, and who is away."""

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.room.decide import CameBack, GoneAway
from support.tables import NAMES, Table, four, nina


def _away(table: Table, seat: int, ms: int) -> Table:
    table.online -= {seat}
    table.offline_ms = {seat: ms}
    table.gone(seat)
    return table


@pytest.mark.parametrize(("started", "needed"), [(False, 60_000), (True, 300_000)])
def test_a_host_that_is_long_away_may_be_replaced(started: bool, needed: int) -> None:
    claim = c.MakeHost(seat=1, name=NAMES[1])
    for ms, code in [(0, ErrorCode.NOT_HOST), (needed - 1, ErrorCode.NOT_HOST), (needed, None)]:
        table = four().fill()
        if started:
            table.start()
        _away(table, 0, ms)
        assert table.code(1, claim) is code
        assert table.room.host == (0 if code else 1)


def test_only_a_logged_absence_counts() -> None:
    table = four().fill()
    table.online -= {0}
    table.offline_ms = {0: 10**9}
    claim = c.MakeHost(seat=1, name=NAMES[1])
    assert table.refused(1, claim).code is ErrorCode.NOT_HOST
    _away(table, 0, 10**9)
    table.online |= {0}
    assert table.refused(1, claim).code is ErrorCode.NOT_HOST
    table.online -= {0}
    for other in (c.MakeHost(seat=2, name=NAMES[2]), c.MakeHost(seat=1, name="Ada")):
        assert table.code(1, other) in {ErrorCode.NOT_HOST, ErrorCode.STALE}
    table.do(1, claim)
    assert table.room.host == 1


def test_a_host_that_waits_for_cards_may_be_replaced_too() -> None:
    table = four().start()
    table.do(1, c.Leave())
    table.do(None, nina(1))
    table.do(0, c.MakeHost(seat=1, name="Nina"))
    claim = c.MakeHost(seat=2, name=NAMES[2])
    assert table.refused(2, claim).code is ErrorCode.NOT_HOST
    _away(table, 1, 300_000)
    assert table.view(None).seats[1].away
    table.do(2, claim)
    assert table.room.host == 2


def test_the_power_goes_to_who_is_there() -> None:
    table = four().fill()
    table.online = frozenset({0, 3})
    table.do(0, c.Leave())
    assert table.room.host == 3
    table.online = frozenset()
    table.do(3, c.Leave())
    assert table.room.host == 1


def test_when_all_have_left_the_next_to_come_is_host() -> None:
    for started in (False, True):
        table = four()
        for seat in (1, 2, 3):
            table.do(0, c.SeatBot(seat=seat))
        if started:
            table.do(0, c.Start())
        table.do(0, c.Leave())
        assert table.host() is None
        assert table.view(None).host is None
        table.do(None, nina())
        host = table.host()
        assert host is not None
        assert table.room.seats[host].holder is not None


def test_the_host_hands_its_power_to_a_person_only() -> None:
    table = four()
    table.do(0, c.SeatBot(seat=1))
    bot = table.room.seats[1].name or ""
    assert table.refused(0, c.MakeHost(seat=1, name=bot)).code is ErrorCode.STALE
    table.join(2)
    table.do(0, c.MakeHost(seat=2, name=NAMES[2]))
    assert table.room.host == 2
    assert table.refused(0, c.Start()).code is ErrorCode.NOT_HOST


# Away and back


def test_being_away_is_logged_once_and_only_for_who_is_gone() -> None:
    table = four().fill()
    assert table.gone(1) == ()
    table.online -= {1}
    assert table.gone(1)
    assert table.gone(1) == ()
    assert table.view(None).seats[1].away
    assert table.back(1)
    assert table.back(1) == ()


def test_what_the_server_noticed_of_a_seat_that_has_gone_is_nothing() -> None:
    table = four()
    table.do(0, c.Configure(rules={"players": 2, "sides": 2}))
    assert table.do(None, GoneAway("0" * 64)) == ()
    assert table.do(None, CameBack("0" * 64)) == ()
