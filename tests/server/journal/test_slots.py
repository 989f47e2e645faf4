"""The map of a cluster, as its nodes tell it."""

from scopa_server.journal.places import Address
from scopa_server.journal.scripts import SLOTS, log_key, slot_of
from scopa_server.journal.slots import Slots

ASKED = Address("asked", 7000)
ONE, OTHER = Address("10.0.0.1", 6379), Address("10.0.0.2", 6380)


def test_a_room_has_the_slot_of_its_keys() -> None:
    # As CLUSTER KEYSLOT says of these keys.
    assert [slot_of(room) for room in ("KRTNWXYZ", "a", "123456789")] == [7711, 15495, 12739]
    assert log_key("a") == "scopa:{a}:log"


def test_an_answer_is_taken_over() -> None:
    slots = Slots()
    assert slots.masters == []
    assert slots.owner(0) is None
    replica = [b"10.0.0.9", 6379, b"id", []]
    slots.read([[0, 99, [b"10.0.0.1", 6379, b"id"], replica]], ASKED)
    slots.read([[100, SLOTS - 1, [b"10.0.0.2", 6380, b"id", []]]], ASKED)
    assert [slots.owner(slot) for slot in (0, 99, 100, SLOTS - 1)] == [ONE, ONE, OTHER, OTHER]
    assert slots.masters == [ONE, OTHER]
    slots.move(5, OTHER)
    assert slots.owner(5) == OTHER


def test_a_node_that_does_not_say_its_name_is_the_one_that_was_asked() -> None:
    for unnamed in (None, b"", b"?"):
        slots = Slots()
        slots.read([[0, SLOTS - 1, [unnamed, 6381, b"id", []]]], ASKED)
        assert slots.masters == [Address("asked", 6381)]


def test_slots_that_nobody_has_keep_their_owner() -> None:
    slots = Slots()
    slots.read([[0, SLOTS - 1, [b"10.0.0.1", 6379, b"id"]]], ASKED)
    slots.read([[0, 9, [b"10.0.0.2", 6380, b"id"]]], ASKED)
    assert (slots.owner(9), slots.owner(10)) == (OTHER, ONE)
