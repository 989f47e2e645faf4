"""What each frame gives to tell."""

from msgspec import structs

from scopa_cli.lines import Line, words
from scopa_cli.model import Choice, Known, enter, update
from scopa_protocol import events
from scopa_protocol.frames import Talk
from scopa_protocol.views import MatchResult, View
from support import server_frames as sent


def after(old: View | None, new: View, *happened: events.RoomEvent) -> str:
    """What is told when a view replaces another."""
    _, lines = update(Known(view=old), sent.update(new, *happened))
    return text(lines)


def text(lines: list[Line]) -> str:
    """Lines as they are read."""
    return "\n".join(map(words, lines))


PLAYED = events.Played(seat=1, card="2B", take=[], scopa=False, to_pile=False, auto=False)


def test_ones_turn_brings_the_table() -> None:
    shown = after(sent.playing(to_play=1, turn=0), sent.playing(seq=11), PLAYED)
    assert shown.startswith("Bruno plays 2B to the table.\n── Deal 1")
    assert shown.endswith("Your turn.")


def test_anothers_turn_is_only_told() -> None:
    new = sent.playing(seq=11, turn=2, to_play=1)
    assert (
        after(sent.playing(), new, structs.replace(PLAYED, seat=0)) == "You play 2B to the table."
    )


def test_a_change_of_presence_tells_no_table() -> None:
    shown = after(sent.playing(), sent.playing(), events.Presence(seat=1, online=False))
    assert shown == "Bruno is not connected any more."


def test_a_watcher_sees_the_table_after_each_play() -> None:
    old, new = sent.playing(you=None, to_play=1), sent.playing(you=None, to_play=0, turn=2, seq=11)
    assert "── Deal 1" in after(old, new, PLAYED)


def test_new_cards_bring_the_table_to_everybody() -> None:
    dealt = events.Dealt(deal=1, batch=2, dealer=1, cards=[3, 3])
    new = sent.playing(batch=2, to_play=1, seq=11, options=None)
    shown = after(sent.playing(to_play=1), new, dealt)
    assert shown.startswith("3 more cards each.\n── Deal 1")


def test_the_end_of_a_deal_brings_its_count() -> None:
    over = sent.playing(phase="deal_over", to_play=None, count=sent.a_count(), seq=12)
    assert "── The count of deal 1 ──" in after(sent.playing(), over)
    assert after(over, structs.replace(over, seq=13)) == ""


def test_the_end_of_a_match_brings_the_sheet_and_a_rematch() -> None:
    won = sent.playing(
        phase="match_over",
        to_play=None,
        count=sent.a_count(),
        seq=12,
        winner=0,
        matches=[MatchResult(winner=0, totals=[11, 2], abandoned=False)],
    )
    shown = after(sent.playing(), won, events.MatchWon(side=0, totals=[11, 2]))
    assert "── The count of deal 1 ──" in shown
    assert "── Match 1, to 11 ──" in shown
    assert shown.endswith("A rematch? Type start, after any change of seats or rules you like.")


def test_a_rescored_match_shows_its_sheet() -> None:
    over = sent.playing(phase="deal_over", to_play=None, count=sent.a_count())
    again = structs.replace(over, seq=13, sides=[sent.a_side(0, 9), sent.a_side(1, 0)])
    assert "── Match 1" in after(over, again)


def test_a_change_of_settings_is_told_during_a_match() -> None:
    changed = structs.replace(sent.playing().settings, hints="memory", watchers="table")
    new = sent.playing(settings=changed, seq=11, to_play=1)
    told = after(sent.playing(to_play=1), new, events.Configured())
    assert told.splitlines()[1:] == ["From now on: watchers=table, hints=memory."]


def test_a_passcode_that_comes_or_goes_is_told() -> None:
    without, kept = sent.lobby(seq=2), sent.lobby(passcode=True, seq=2)
    assert "Newcomers need a passcode now." in after(sent.lobby(), kept)
    assert "Newcomers need no passcode any more." in after(kept, without)
    assert "passcode" not in after(kept, kept)


def test_a_lobby_tells_what_it_waits_for() -> None:
    came = events.SeatTaken(seat=1, name="Bruno", kind="person")
    shown = after(sent.lobby(), sent.lobby("Anna", "Bruno", seq=2), came)
    assert shown == "Bruno takes seat 1.\nEverybody is here. Type start to begin."
    changed = structs.replace(sent.lobby().settings, turn_seconds=30)
    assert "turn_seconds=30" in after(sent.lobby(), sent.lobby(settings=changed, seq=2))


def test_an_older_view_tells_nothing_and_a_new_log_is_always_taken() -> None:
    known = Known(view=sent.playing(seq=20))
    assert update(known, sent.update(sent.playing(seq=19), PLAYED)) == (known, [])
    reloaded, _ = update(known, sent.update(sent.playing(seq=3, log="other")))
    assert reloaded.view is not None
    assert reloaded.view.seq == 3


def test_a_table_that_went_back_is_told_as_such() -> None:
    known = Known(view=sent.playing(seq=20))
    told = "The table went back to an earlier moment."
    for log, seq, back in (("other", 3, True), ("other", 20, False), ("other", 21, False)):
        view = sent.playing(seq=seq, log=log)
        for lines in (
            enter(known, sent.joined(view), again=True)[1],
            update(known, sent.update(view))[1],
        ):
            assert text(lines).startswith(told) is back
    assert told not in text(enter(Known(), sent.joined(sent.playing(seq=1)), again=False)[1])


def test_joined_is_always_taken_and_talk_is_heard_once() -> None:
    frame = sent.joined(sent.playing(seq=1), talk=[Talk(name="Bruno", seat=1, text="ciao")])
    known, lines = enter(Known(view=sent.playing(seq=20)), frame, again=False)
    assert known.view == frame.view
    assert text(lines).startswith("Bruno: ciao\n── Deal 1")
    _, again = enter(known, frame, again=True)
    assert "ciao" not in text(again)


def test_every_phase_can_be_come_back_to() -> None:
    for view, piece in (
        (sent.lobby(), "Room KRTNWXYZ"),
        (sent.playing(), "Deal 1"),
        (sent.playing(phase="deal_over", to_play=None, count=sent.a_count()), "The count"),
        (sent.playing(phase="match_over", to_play=None), "A rematch?"),
    ):
        assert piece in text(enter(Known(), sent.joined(view), again=True)[1])


def test_a_choice_lasts_as_long_as_its_turn() -> None:
    choice = Choice(deal=1, turn=1, card="7D", takes=[["7C"], []])
    known = Known(view=sent.playing(), choice=choice)
    same, _ = update(known, sent.update(sent.playing(seq=11)))
    assert same.choice == choice
    past, _ = update(known, sent.update(sent.playing(seq=11, turn=2)))
    assert past.choice is None


def test_a_first_card_and_the_end_of_a_pause_show_the_table() -> None:
    waiting = sent.playing(to_play=None, table=[], hand=None, options=None)
    offered = structs.replace(waiting, first_card="5B", seq=11)
    assert "Your first card would be 5B." in after(waiting, offered)
    paused = sent.playing(paused_by=1)
    assert "Your turn." in after(paused, sent.playing(seq=11), events.Unpaused(seat=1))
