"""Playing with nobody at the keyboard."""

from msgspec import structs

from scopa_cli.autoplay import next_command, stuck
from scopa_protocol.commands import FirstCard, Play, Ready, Start
from support.server_frames import lobby, playing


def test_the_first_offered_capture_is_played() -> None:
    assert next_command(playing()) == Play(deal=1, turn=1, card="7D", take=["7C"])


def test_a_card_is_laid_where_nothing_can_be_taken() -> None:
    view = playing(options={"7D": [], "1S": [], "10S": []})
    assert next_command(view) == Play(deal=1, turn=1, card="7D", take=[])


def test_a_hosts_client_starts_once_everybody_is_here() -> None:
    assert next_command(lobby()) is None
    assert next_command(lobby("Anna", "Bruno")) == Start()
    assert next_command(lobby("Anna", "Bruno", you=1)) is None


def test_it_goes_on_after_a_deal_and_keeps_a_first_card() -> None:
    over = playing(phase="deal_over", to_play=None)
    assert next_command(over) == Ready(deal=1)
    ready = structs.replace(over.seats[0], ready=True)
    assert next_command(structs.replace(over, seats=[ready, over.seats[1]])) is None
    assert next_command(playing(first_card="5B", to_play=None)) == FirstCard(deal=1, keep=True)


def test_it_waits_for_others_and_for_hints() -> None:
    assert next_command(playing(to_play=1)) is None
    assert next_command(playing(paused_by=1)) is None
    assert next_command(playing(you=None)) is None
    assert next_command(playing(options=None)) is None
    assert stuck(playing(options=None))
    assert not stuck(playing())
    assert not stuck(playing(to_play=None, options=None))
