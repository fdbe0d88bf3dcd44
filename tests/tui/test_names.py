"""Names in too little room: unlike ones still look unlike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.tui.drawing.glyphs import UNICODE
from agentbench_tui.tui.drawing.names import first_differences, shorten_name

LLAMAS = ("meta-llama-3.1-8b-instruct-awq", "meta-llama-3.1-70b-instruct-awq")
LONG = ("a-very-long-model-name-7b", "a-very-long-model-name-14b")


def cut(names: tuple[str, ...], width: int) -> list[str]:
    places = first_differences(names)
    return [shorten_name(name, width, places[name], UNICODE) for name in names]


def test_a_name_that_fits_is_whole() -> None:
    assert cut(("gpt-4o", "gpt-4o-mini"), 11) == ["gpt-4o", "gpt-4o-mini"]


def test_the_middle_is_cut_out() -> None:
    assert cut(LONG, 10) == ["a-ve…me-7b", "a-ve…e-14b"]


def test_names_that_differ_in_their_middle_keep_it() -> None:
    assert cut(LLAMAS, 10) == ["me…-8b-in…", "me…-70b-i…"]


def test_where_names_differ_is_found_among_the_most_alike() -> None:
    assert first_differences(("b", "abc", "abd", "a")) == {"b": 0, "abc": 2, "abd": 2, "a": 1}


@pytest.mark.parametrize("width", [0, 1, 4])
def test_in_next_to_no_room_the_end_is_cut(width: int) -> None:
    assert len(cut(LONG, width)[0]) <= width


@given(st.lists(st.text("ab-", max_size=30), min_size=1, max_size=6), st.integers(0, 30))
def test_no_name_is_wider_than_its_room(names: list[str], width: int) -> None:
    for name, shown in zip(names, cut(tuple(names), width), strict=True):
        assert len(shown) <= width
        assert shown == name or len(name) > width
