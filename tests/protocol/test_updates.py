"""Updates written in parts read as if they were written in one."""

import json
from typing import Any

import msgspec
import pytest

from scopa_protocol import events as told
from scopa_protocol.codec import CODECS, JSON, MSGPACK, Codec
from scopa_protocol.frames import Update
from scopa_protocol.updates import Listed
from scopa_protocol.views import LastingView, ListedView, OwnView, TableView, View, whole
from support.wire import FULL_VIEW

EVENTS: list[told.RoomEvent] = [
    told.Paused(seat=1),
    told.Said(name="Anna", seat=0, text='"}], \\ ,"view":{'),
]


def part(kind: type[Any], view: View) -> Any:
    return kind(**{name: getattr(view, name) for name in kind.__struct_fields__})


LASTING: LastingView = part(LastingView, FULL_VIEW)
LISTED: ListedView = part(ListedView, FULL_VIEW)
TABLE: TableView = part(TableView, FULL_VIEW)
OWN: OwnView = part(OwnView, FULL_VIEW)


def common(codec: Codec, seq: int, events: list[told.RoomEvent]) -> bytes:
    write = codec.updates
    listed = Listed(
        seats=list(map(codec.encode, LISTED.seats)),
        sides=list(map(codec.encode, LISTED.sides)),
        recent=list(map(codec.encode, LISTED.recent)),
        gone=codec.encode(LISTED.gone),
    )
    return write.common(seq, events, write.lasting(LASTING), listed, TABLE)


def test_the_parts_share_nothing_and_are_the_whole() -> None:
    parts: tuple[type[msgspec.Struct], ...] = (LastingView, ListedView, TableView, OwnView)
    fields = ["seq", *(name for part in parts for name in part.__struct_fields__)]
    assert len(set(fields)) == len(fields)
    assert set(fields) == set(View.__struct_fields__)
    assert whole(FULL_VIEW.seq, LASTING, LISTED, TABLE, OWN) == FULL_VIEW


def test_an_own_part_has_the_defaults_of_a_watchers_view() -> None:
    fields = {field.name: field for field in msgspec.structs.fields(View)}
    for field in msgspec.structs.fields(OwnView):
        if field.name != "declarations":
            assert field.default == fields[field.name].default
    assert OwnView().declarations == []


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
@pytest.mark.parametrize("re", [None, [7], [1, 2, 2**53 - 1]])
@pytest.mark.parametrize("events", [[], EVENTS], ids=["quiet", "eventful"])
@pytest.mark.parametrize("own", [OWN, OwnView()], ids=["seat", "watcher"])
def test_an_update_reads_as_one_frame(
    codec: Codec, re: list[int] | None, events: list[told.RoomEvent], own: OwnView
) -> None:
    write = codec.updates
    parts = common(codec, 2**40, events), write.own(own)
    written = b"".join(parts if re is None else write.answering(*parts, re))
    expected = Update(
        re=re, seq=2**40, events=events, view=whole(2**40, LASTING, LISTED, TABLE, own)
    )
    assert codec.decode_frame(written) == expected
    # To clients that know less of the types, too.
    generic = json.loads if codec is JSON else msgspec.msgpack.decode
    assert generic(written) == generic(codec.encode(expected))


def test_no_key_is_written_twice() -> None:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(found)) == len(found)
        return dict(found)

    write = JSON.updates
    written = b"".join(write.answering(common(JSON, 5, EVENTS), write.own(OWN), [1]))
    json.loads(written, object_pairs_hook=pairs)


def test_a_map_of_fewer_entries_than_are_written_would_be_noticed() -> None:
    write = MSGPACK.updates
    written = b"".join(write.answering(common(MSGPACK, 5, EVENTS), write.own(OWN), [1]))
    with pytest.raises(ValueError, match=r"."):
        MSGPACK.decode_frame(written + b"\x00")
