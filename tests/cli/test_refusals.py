"""Every refusal in words."""

import pytest
from msgspec import structs

from scopa_cli.refusals import SAYS_BETTER, SAYS_MORE, WORDS, explain
from scopa_protocol.codes import RETRYABLE, ErrorCode
from scopa_protocol.frames import Error
from scopa_protocol.settings import Settings
from support.server_frames import an_error, playing


def silent(code: str) -> Error:
    """A refusal without a message."""
    return structs.replace(an_error(code), message="")


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_a_sentence_of_its_own(code: ErrorCode) -> None:
    text = explain(silent(code))
    assert text[0].isupper()
    assert len(text.split()) > 3


def test_sentences_differ() -> None:
    assert len({explain(silent(code)) for code in ErrorCode}) == len(ErrorCode)


@pytest.mark.parametrize("code", sorted(SAYS_BETTER | SAYS_MORE))
def test_where_a_code_has_several_reasons_the_servers_is_shown(code: ErrorCode) -> None:
    assert f"the server says {code}" in explain(an_error(code))


@pytest.mark.parametrize("code", sorted(SAYS_BETTER))
def test_a_reason_that_says_what_to_do_stands_alone(code: ErrorCode) -> None:
    assert explain(an_error(code)) == f"the server says {code}"


@pytest.mark.parametrize("code", sorted(RETRYABLE))
def test_nobody_is_told_to_do_what_the_client_does_by_itself(code: ErrorCode) -> None:
    assert "try" not in WORDS[code]


def test_a_code_of_a_later_version_is_told_with_the_servers_words() -> None:
    assert explain(an_error("of_tomorrow")) == "the server says of_tomorrow"
    assert explain(silent("of_tomorrow")) == "The server refused that (of_tomorrow)."


def test_rules_are_refused_with_field_and_reason() -> None:
    text = explain(an_error("bad_rules", field="target"))
    assert text == "These rules can't be played. the server says bad_rules (target)"


def test_captures_that_would_do_are_named() -> None:
    text = explain(an_error("illegal_capture", options=[["7C"], ["3C", "4S"]]))
    assert text == "That card can't take those. It takes 7C or 3C 4S."
    assert "It takes" not in explain(an_error("must_capture"))
    assert "It takes" not in explain(an_error("must_capture", options="nonsense"))


def test_talk_that_is_off_says_when_it_is_on() -> None:
    view = playing()
    assert "only after it" in explain(an_error("talk_off"), view)
    off = structs.replace(view, settings=Settings(talk="off"))
    assert "off in this room" in explain(an_error("talk_off"), off)
    assert "Watchers" in explain(an_error("talk_off"), structs.replace(view, you=None))
