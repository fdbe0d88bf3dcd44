"""What is recorded is what is read back."""

import pytest
from driving import rows_of

from agentbench_tui.load import recorder
from agentbench_tui.load.recorder import SampleRecorder
from agentbench_tui.load.sample import FIELDS, NONE

NAMES = [name for name, _ in FIELDS]


@pytest.mark.parametrize(("lag_us", "kept_us"), [(5, 5), (NONE, NONE), (NONE + 1, NONE - 1)])
def test_a_full_buffer_grows_whatever_the_next_row_holds(
    lag_us: int, kept_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "FULL_ROWS", 2)  # of which there is room for twice
    kept = SampleRecorder(from_due=False)
    for due_us in range(9):
        kept.record(due_us, lag_us, *range(15))
    assert kept.rows == 9

    rows = rows_of(kept.take(sent=9, in_flight=0, waiting=0, oldest_s=None, at_s=0.0).samples)
    assert rows == [dict(zip(NAMES, (due, kept_us, *range(15)), strict=True)) for due in range(9)]
    assert kept.rows == 0
