"""The fuzzer's first frames, and that its target notices a fault."""

import pytest

from fuzz import target
from scopa_protocol.codec import CODECS, Format


@pytest.mark.parametrize("fmt", target.FORMATS)
def test_whatever_the_fuzzer_begins_with_is_sound_or_refused(fmt: Format) -> None:
    count = 0
    for data in target.seeds(fmt):
        target.check(data, fmt)
        count += 1
    assert count > 400


@pytest.mark.parametrize("fmt", target.FORMATS)
def test_a_fault_is_noticed(fmt: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise KeyError("7D")

    monkeypatch.setattr(CODECS[fmt], "decode_command", faulty)
    with pytest.raises(KeyError):
        target.check(b"", fmt)
