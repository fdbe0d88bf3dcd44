"""The page Training: learning curves of files, in groups, and an example that is called one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from stores import screen_text, session, shows

from agentbench_tui.analysis.learning_curve import auc
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.tui.pages.market.page import EXAMPLE
from agentbench_tui.tui.pages.training.rows import curves_plot, demo, runs_table
from agentbench_tui.verdicts.training.training_curves import read_curves


def test_groups_have_means_areas_and_a_verdict(folders: Path) -> None:
    found = read_curves([folders / "old", folders / "new"], better="higher")
    old, new = found.groups
    assert [group.name for group in found.groups] == ["old", "new"]
    assert old.mean is not None
    assert old.mean.mean[-1] == pytest.approx(0.52), "0.50 to 0.54"
    steps = [*range(11)]
    area = auc(steps, [0.09 * step for step in steps])
    assert new.values[0][0] == pytest.approx(area)
    assert found.window == (7.5, 10)
    assert new.values[1][0] == pytest.approx(0.9 * 0.8), "the mean of 0.6 to 1 times 0.9"
    assert found.pairing == "paired by seed"
    # Each pair grows by 0.4 times the mean step of the window, 8.75 of 10.
    first = found.comparisons[0]
    assert first is not None
    assert first.effect == pytest.approx(0.4 * 0.875)
    assert first.n == 5


def test_a_file_may_hold_several_runs(folders: Path) -> None:
    found = read_curves([folders / "both.csv"], "reward")
    assert [run.name for run in found.groups[0].runs] == ["[b]x[/b]", "y"]
    assert found.comparisons == (None, None)
    assert len(curves_plot(found, single=True).lines) == 2
    assert len(curves_plot(found, single=False).lines) == 1
    assert len(runs_table(found).rows) == 2


@pytest.mark.parametrize(
    ("names", "said"),
    [(["none"], "no such file"), ([], "one or two"), (["old", "new", "both.csv"], "one or two")],
)
def test_what_cannot_be_read_is_told(folders: Path, names: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_curves([folders / name for name in names])


def test_nothing_is_judged_while_nobody_said_which_way_is_good(folders: Path) -> None:
    found = read_curves([folders / "old", folders / "new"])
    assert found.better is None
    assert found.comparisons == (None, None)
    lower = read_curves([folders / "old", folders / "new"], better="lower").comparisons[0]
    assert lower is not None
    assert lower.verdict != "better"


def test_a_metric_that_nobody_logged_is_told_with_what_there_is(folders: Path) -> None:
    with pytest.raises(UsageError, match="does not log loss"):
        read_curves([folders / "old"], "loss")


def test_the_example_has_two_groups_with_bands() -> None:
    plot = curves_plot(demo(), single=False)
    assert len(plot.lines) == len(plot.bands) == 2


async def test_the_example_is_called_one_at_every_panel(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "training")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("d")
        await shows(pilot, EXAMPLE, "example-base (8 runs)", "example-new (8 runs)")
        await pilot.press("v")
        await shows(pilot, EXAMPLE, "16 runs: reward")
        await pilot.press("v")
        await shows(pilot, EXAMPLE, "what they say", "mean of the last 5 values")
        await pilot.press("v")
        await shows(pilot, "reward by step")
        assert "16 runs" not in screen_text(app)


async def test_without_files_experiments_of_the_store_are_told(
    varied: Path, tmp_path: Path
) -> None:
    database = tmp_path / "store.db"
    with closing(connect_to_read(varied)) as source, closing(sqlite3.connect(database)) as copy:
        source.backup(copy)
        copy.execute(
            "UPDATE runs SET plan=json_set(plan, '$.groups[0].benchmark.kind', 'experiment')"
        )
        copy.commit()
        (name,) = copy.execute(
            "SELECT json_extract(plan, '$.groups[0].benchmark.benchmark_id') FROM runs"
            " ORDER BY started_at DESC LIMIT 1"
        ).fetchone()
    app = session(database, "training")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "experiments in the store", name, "press o to open a file or folder")
        await pilot.press("enter")
        await shows(pilot, f"{name}, ", "answers 1")
