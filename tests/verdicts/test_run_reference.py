"""Names of runs: pairs as JSON, lists, files, and runs of a store."""

from pathlib import Path

import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.training.run_reference import (
    NamedPair,
    check_lists,
    find_files,
    parse_pairs,
    run_of_file,
    run_of_store,
)


def test_pairs_are_objects_or_arrays_of_them() -> None:
    wanted = [NamedPair("a", "b", 1072), NamedPair("c", "d")]
    one = '{"control": "a", "candidate": "b", "seed": 1072}'
    other = '{"control": "c", "candidate": "d"}'
    assert parse_pairs([one, other]) == wanted
    assert parse_pairs([f"[{one}, {other}]"]) == wanted
    assert parse_pairs([f"{one}\n{other}\n"]) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b", "is not JSON"),
        ("[1]", "pair 1: an object with control and candidate is expected"),
        ('{"control": "a"}', "pair 1: 'candidate' has to be the name of a run"),
        ('{"control": "a", "candidate": 3}', "'candidate' has to be the name"),
        ('{"contrl": "a", "candidate": "b"}', "unknown key 'contrl' (did you mean \"control\"?)"),
        ('{"control": "a", "candidate": "a"}', "'a' is compared with itself"),
        ('{"control": "a", "candidate": "b", "seed": "x"}', "'seed' has to be a whole number"),
        (
            '[{"control": "a", "candidate": "b"}, {"control": "a", "candidate": "c"}]',
            "control 'a' is named twice",
        ),
    ],
)
def test_a_pair_that_means_nothing_is_told(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_pairs([text])
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("control", "candidate", "said"),
    [
        (["a"], [], "--candidate-run-ids: give the runs of both sides"),
        (["a", "b", "a"], ["c"], "'a' is named twice"),
        (["a"], ["b", "a"], "'a' is named as control and as candidate"),
    ],
)
def test_lists_that_mean_nothing_are_told(
    control: list[str], candidate: list[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        check_lists(control, candidate)


def test_a_file_says_its_seed_else_its_name_does(tmp_path: Path) -> None:
    (tmp_path / "r.seed5.csv").write_text("step,x,seed\n0,1,9\n")
    (tmp_path / "r.seed6.csv").write_text("step,x\n0,1\n")
    (tmp_path / "r.seed7.csv").write_text("step,y\n0,1\n")
    files = find_files(["r.seed5", "r.seed6", "r.seed7", "r.seed8"], tmp_path)
    assert list(files) == ["r.seed5", "r.seed6", "r.seed7"]
    found = [run_of_file(name, path, "x") for name, path in files.items()]
    assert [run.seed for run in found] == [9, 6, 7]
    assert [run.reason for run in found] == ["", "", "does not log x; it has step, y"]


def test_a_run_that_is_nowhere_has_a_reason() -> None:
    found = run_of_store(None, "r.seed8", "x", {"suite": None, "benchmark": None})
    assert (found.seed, found.value, found.reason) == (8, None, "no file has its series")
