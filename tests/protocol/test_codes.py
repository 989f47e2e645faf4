"""Error and close codes, word for word as the protocol has them."""

from scopa_protocol.codes import FINAL_CLOSES, RETRYABLE, CloseCode, ErrorCode

ERRORS = """
bad_message too_fast too_many_connections server_full restarting internal_error storage_unavailable
unknown_room room_full wrong_passcode bad_token bad_key watching_off
bad_name name_taken no_such_seat seat_taken bad_text bad_rules bad_settings
not_in_a_room already_in_a_room not_seated not_host not_allowed seats_empty wrong_phase paused
talk_off not_your_turn stale not_in_hand not_on_table must_capture illegal_capture cannot_declare
no_proposal
"""


def test_the_error_codes() -> None:
    assert [code.value for code in ErrorCode] == ERRORS.split()


def test_an_error_is_worth_another_try_when_it_passes_by_itself() -> None:
    assert {"too_fast", "storage_unavailable", "restarting", "server_full"} == RETRYABLE


def test_the_close_codes() -> None:
    assert sorted(CloseCode) == [1000, 1001, 1008, 1009, 1011, 1012, 1013, 4001, 4002, 4003, 4004]


def test_a_client_stays_away_after_a_final_close() -> None:
    assert {1008, 1009, 4001, 4002, 4003, 4004} == FINAL_CLOSES
