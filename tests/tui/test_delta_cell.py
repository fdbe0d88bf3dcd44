"""A change in a cell: which way, how much, how sure, and whether that is good."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from whole_rows import assert_whole

from agentbench_tui.analysis.differences import difference_verdict
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.delta_cell import Delta, paint_delta
from agentbench_tui.verdicts.regression import finding

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
SLOWER = Delta(1.42, "worse", 1.10, 1.84)


def shown(delta: Delta, width: int = 60) -> str:
    (text,) = text_of([paint_delta(delta, width, *LOOK)])
    assert cell_len(text) == width
    return text.rstrip()


def test_a_ratio_is_told_with_its_interval_and_what_it_means() -> None:
    assert shown(SLOWER) == "▲    1.42× [1.10, 1.84]   worse"


def test_the_interval_goes_first_then_the_word_shrinks_to_a_letter() -> None:
    assert shown(SLOWER, 30) == "▲    1.42× worse"
    assert shown(SLOWER, 15) == "▲    1.42× W"
    assert shown(SLOWER, 8) == "▲1.42×W"


def test_points_are_hundredths_and_differences_have_a_sign() -> None:
    assert shown(Delta(0.13, "better", 0.103, 0.157, "points")) == (
        "▲ +13.0 pp [+10.3, +15.7] better"
    )
    assert shown(Delta(-1.0, "worse", -1.0, -0.853, "points"), 35) == (
        "▼ -100.0 pp [-100.0, -85.3] worse"
    )
    assert shown(Delta(-231.0, "worse", unit="")) == "▼     -231 worse"


@pytest.mark.parametrize(
    ("verdict", "word", "letter"),
    [
        ("better", "better", "B"),
        ("improvement", "better", "B"),
        ("regression", "worse", "W"),
        ("suspect", "suspect", "S"),
        ("equivalent", "same", "="),
        ("inconclusive", "unclear", "?"),
    ],
)
def test_every_verdict_has_a_word_and_a_letter(verdict: str, word: str, letter: str) -> None:
    delta = Delta(0.5, verdict)
    assert shown(delta).endswith(f"0.500× {word}")
    assert shown(delta, 12).endswith(f"0.500× {letter}")


def test_every_verdict_that_is_given_is_known() -> None:
    given_ = {*get_args(difference_verdict.Verdict), *get_args(finding.Verdict)}
    # What is unknown is shown as it is, with a question mark for a letter.
    unknown = {one for one in given_ if shown(Delta(0.5, one)).endswith(f"× {one}")}
    assert unknown == {"better", "worse", "suspect"} & given_
    assert shown(Delta(0.5, "tie")).endswith("× tie")


def test_no_change_is_level() -> None:
    assert shown(Delta(1.0, "equivalent")).startswith("=")
    assert shown(Delta(0.0, "equivalent", unit="points")).startswith("=")


def test_good_and_bad_differ_in_color_too() -> None:
    looks = {
        verdict: paint_delta(Delta(1.4, verdict), 30, *LOOK)[0].style
        for verdict in ("better", "worse", "inconclusive")
    }
    assert len(set(looks.values())) == 3


def test_what_is_unknown_is_told_with_the_reason() -> None:
    unknown = Delta(None, "not enough data", reason="needs 5 runs (have 2)")
    assert shown(unknown) == "– needs 5 runs (have 2)"
    assert shown(Delta(float("nan"), "better")) == "–"


@settings(max_examples=60)
@given(
    st.builds(
        Delta,
        change=st.none() | st.floats(),
        verdict=st.sampled_from(["better", "worse", "\x1b[31m", "inconclusive"]),
        low=st.none() | st.floats(),
        high=st.none() | st.floats(),
        unit=st.sampled_from(["ratio", "points", ""]),
        reason=st.text(HOSTILE, max_size=20),
    ),
    st.integers(1, 60),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_change_fits_any_cell(delta: Delta, width: int, glyphs: Glyphs) -> None:
    rows = [paint_delta(delta, width, palette(DARK), glyphs)]
    assert_whole(rows, width, 1)
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()
