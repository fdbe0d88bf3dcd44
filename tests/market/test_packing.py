"""Long parts of episodes: read again as they were, without secrets, within an answer's bounds."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.engine.task.recorder import LONGEST_ANSWER
from agentbench_tui.market import document, trajectory
from agentbench_tui.market.packing import MOST_PLAIN, pack, shortened, unpack, whole
from agentbench_tui.model.errors import StoreError

TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="-_:"))
"""Without what keys look like."""
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=12,
)


@given(JSON)
def test_what_was_packed_is_read_again(value: object) -> None:
    assert unpack(pack(value)) == value


def test_only_what_is_long_is_packed() -> None:
    short, long = {"acts": [1]}, {"acts": [*range(MOST_PLAIN)], "equity": [1.5]}
    assert shortened(short) == short
    packed = shortened(long)
    assert [*packed] == ["packed"]
    assert len(packed["packed"]) < len(msgspec.json.encode(long)) / 2
    assert whole({"title": "t", **packed}) == {"title": "t", **long}
    assert whole({"title": "t", **short}) == {"title": "t", **short}


def test_no_key_is_hidden_from_the_store_in_what_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    said = {"content": "correct-horse-battery", "token": "sk-abcdefghijklmnopqrst"}
    assert unpack(pack(said)) == {"content": "***", "token": "***"}


def test_a_secret_of_digits_breaks_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "600000")
    said = {"start_ms": 1767225600000, "text": ["pin 600000", None], "600000": True}
    assert unpack(pack(said)) == {
        "start_ms": 1767225600000,
        "text": ["pin ***", None],
        "***": True,
    }


def test_what_no_json_can_hold_is_kept_as_text() -> None:
    assert unpack(pack({"a": "half \ud800", "n": 2**70, "x": float("nan")})) == {
        "a": "half ?",
        "n": 2**70,
        "x": None,
    }


@pytest.mark.parametrize("damaged", ["", "AAAA", "é", pack([1])[:-4]])
def test_a_damaged_record_is_told(damaged: str) -> None:
    with pytest.raises(StoreError, match="damaged"):
        unpack(damaged)


def test_an_answer_has_room_for_the_longest_episode_and_trajectory() -> None:
    """The store keeps nothing but the text of an answer that is longer."""
    assert document.MOST_PACKED + trajectory.MOST_PACKED < LONGEST_ANSWER - 250_000
