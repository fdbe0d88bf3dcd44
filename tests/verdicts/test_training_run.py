"""A run's series from a file: which file, which columns, and what was logged."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.training.training_run import Series, Unlogged, find_series, read_series


def series(tmp_path: Path, content: str, metric: str | None = None) -> Series:
    path = tmp_path / "run.csv"
    path.write_text(content)
    found = read_series(path, metric)
    assert isinstance(found, Series)
    return found


@pytest.mark.parametrize(
    "content",
    [
        "_step,overview/reward\n0,1\n10,2\n",
        "Wall time,Step,Value\n1.5,0,1\n2.5,10,2\n",
        "global_step;Overview/Reward;loss\n0;1,0;3\n10;2,0;4\n",
        '{"_step": 0, "overview/reward": 1}\n{"_step": 10, "overview/reward": 2}\n',
        '[{"step": 0, "overview/reward": 1}, {"step": 10, "overview/reward": 2}]',
    ],
)
def test_steps_and_values_are_found_by_name(tmp_path: Path, content: str) -> None:
    found = series(tmp_path, content)
    assert found.steps.tolist() == [0, 10]
    assert found.values.tolist() == [1, 2]


def test_rows_that_log_something_else_say_nothing_and_nan_says_that_it_diverged(
    tmp_path: Path,
) -> None:
    found = series(
        tmp_path,
        '{"_step": 0, "overview/reward": 1}\n{"_step": 5, "loss": 3}\n'
        '{"_step": 6, "overview/reward": null}\n{"_step": 10, "overview/reward": NaN}\n'
        '{"_step": 20, "overview/reward": "Infinity"}\n',
    )
    assert found.steps.tolist() == [0, 10, 20]
    assert np.array_equal(found.values, [1, math.nan, math.nan], equal_nan=True)


def test_a_run_that_was_taken_up_again_replaces_what_it_had_logged(tmp_path: Path) -> None:
    found = series(tmp_path, "step,overview/reward\n0,1\n10,2\n20,3\n10,7\n20,8\n30,9\n")
    assert found.steps.tolist() == [0, 10, 20, 30]
    assert found.values.tolist() == [1, 7, 8, 9]
    assert found.replaced == 2


def test_a_column_of_seeds_says_the_seed(tmp_path: Path) -> None:
    assert series(tmp_path, "step,overview/reward,seed\n0,1,7\n1,1,7\n").seed == 7
    assert series(tmp_path, "step,overview/reward,seed\n0,1,7\n1,1,8\n").seed is None


def test_a_metric_that_was_not_logged_is_no_fault_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("step,overview/rewards\n0,1\n")
    found = read_series(path, "overview/reward")
    assert isinstance(found, Unlogged)
    assert 'did you mean "overview/rewards"?' in found.reason
    path.write_text("step,overview/reward\n0,\n")
    assert isinstance(read_series(path, "overview/reward"), Unlogged)


def test_a_metric_is_not_read_from_a_column_of_another_name(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("step,value\n0,1\n1,2\n")
    asked = read_series(path, "loss")
    assert isinstance(asked, Unlogged)
    assert "does not log loss; it has step, value" in asked.reason
    usual = read_series(path, None)
    assert isinstance(usual, Series)
    assert usual.column == "value"
    path.write_text("step,value,loss\n0,1,5\n1,2,4\n")  # which of them is meant?
    assert isinstance(read_series(path, None), Unlogged)
    assert isinstance(read_series(path, "VALUE"), Series)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("epoch,overview/reward\n0,1\n", "no column of steps (_step, step, global_step)"),
        ("step,overview/reward\n0,1\n1,good\n", "run.csv:3: overview/reward: 'good' is no number"),
        ("step,overview/reward\n,1\n", "run.csv:2: step: '' is no number"),
        ("step,overview/reward\ninf,1\n", "run.csv:2: step: no step is given"),
        ("step,overview/reward\n0,1e200\n", "run.csv:2: overview/reward: 1e+200 is out of range"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, content: str, said: str
) -> None:
    with pytest.raises(UsageError) as error:
        series(tmp_path, content)
    assert said in str(error.value)


def test_a_run_is_a_file_a_name_without_suffix_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "history.csv").write_text("")
    (tmp_path / "c" / "config.json").write_text("")
    for name, file in (("a", "a.csv"), ("a.csv", "a.csv"), ("b", "b.jsonl.gz")):
        assert find_series(name, tmp_path) == tmp_path / file
    assert find_series("c", tmp_path) == tmp_path / "c" / "history.csv"
    assert find_series(str(tmp_path / "a"), None) == tmp_path / "a.csv"
    assert find_series("nothing", tmp_path) is None
    (tmp_path / "c" / "history.csv").rename(tmp_path / "c" / "other.csv")
    with pytest.raises(UsageError, match=r"found config\.json, other\.csv"):
        find_series("c", tmp_path)
