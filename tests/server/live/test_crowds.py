"""Who is one too many, as every process counts it."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from scopa_server.live.crowds import Crowd, Mark

TAKES = 4
PROCESSES = ("a", "b", "c")


def crowd(
    process: str,
    held: Mapping[str, Sequence[int]],
    heard: Mapping[str, Mark] | None = None,
    takes: int = TAKES,
) -> Crowd:
    """A group as one of the processes sees it; without `heard` all know who came last."""
    marks = [(number, name) for name, numbers in held.items() for number in numbers]
    newest = max(marks, default=(0, ""))
    others = [name for name in held if name != process]
    return Crowd(
        process=process,
        here=held[process],
        there={name: held[name] for name in others},
        heard=dict.fromkeys(others, newest) if heard is None else heard,
        takes=takes,
    )


def test_as_many_as_may_be_stay() -> None:
    held = {"a": (1, 2), "b": (3, 4)}
    assert crowd("a", held).is_full
    assert not crowd("a", held).is_too_big
    assert crowd("a", held).surplus(oldest=True) == frozenset()


def test_of_one_too_many_the_oldest_goes_wherever_it_is() -> None:
    for one, other in permutations("ab"):
        held = {one: (1, 2), other: (3, 4, 5)}
        assert crowd(one, held).surplus(oldest=True) == {1}
        assert crowd(other, held).surplus(oldest=True) == frozenset()


def test_of_too_many_who_watch_the_newest_go() -> None:
    held = {"a": (1, 2, 5), "b": (3, 4, 6)}
    assert crowd("a", held).surplus(oldest=False) == {5}
    assert crowd("b", held).surplus(oldest=False) == {6}


def test_two_that_came_at_the_same_moment_push_out_two() -> None:
    held = {"a": (1, 2, 5), "b": (3, 4, 5)}
    assert crowd("a", held).surplus(oldest=True) == {1, 2}
    assert crowd("b", held).surplus(oldest=True) == frozenset()


def test_a_process_that_has_not_heard_of_the_newest_does_not_count() -> None:
    held = {"a": (1, 2, 5, 6), "b": (3, 4)}
    assert crowd("a", held, {}).surplus(oldest=True) == frozenset()
    assert crowd("a", held, {"b": (5, "a")}).surplus(oldest=True) == frozenset()
    assert crowd("a", held, {"b": (6, "a")}).surplus(oldest=True) == {1, 2}


def test_what_is_held_here_alone_needs_nobodys_word() -> None:
    assert crowd("a", {"a": (1, 2, 3, 4, 5), "b": (6,)}, {}).surplus(oldest=True) == {1}


@given(
    st.lists(st.tuples(st.sampled_from(PROCESSES), st.integers(1, 12)), unique=True),
    st.booleans(),
    st.integers(1, 6),
)
def test_all_processes_together_close_just_what_is_too_much(
    marks: list[tuple[str, int]], oldest: bool, takes: int
) -> None:
    held = {name: [number for at, number in marks if at == name] for name in PROCESSES}
    gone = {
        (number, name)
        for name in PROCESSES
        for number in crowd(name, held, takes=takes).surplus(oldest=oldest)
    }
    order = sorted(((number, name) for name, number in marks), reverse=not oldest)
    assert gone == set(order[: max(0, len(order) - takes)])
