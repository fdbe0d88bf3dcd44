"""Which rows of a file count: conditions, columns that split cases, HTTP statuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.sample_columns import chosen_metric
from agentbench_tui.verdicts.files.sample_file import SampleFile, read_sample_file

RIGHT = {"strict-match": (0, 1, 0, 1), "flexible-extract": (1, 1, 0, 1)}
"""Of four documents whether the answer is right, by filter."""


def harness_samples(path: Path) -> Path:
    """Samples as lm-eval writes them: a row for each filter of each document."""
    rows = [
        {"doc_id": doc, "doc": {"q": doc}, "filter": name, "exact_match": float(right)}
        for name, all_right in RIGHT.items()
        for doc, right in enumerate(all_right)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, where: dict[str, str] | None = None) -> SampleFile:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        return read_sample_file(path, CaseNumbers(connection), (), where or {})
    finally:
        connection.close()


def evidence(file: SampleFile) -> TaskEvidence:
    (found,) = file.benchmarks.values()
    return found


@pytest.mark.parametrize("inner", ["doc_id", "question_id", "Doc ID"])
def test_a_task_and_the_document_in_it_are_the_case_together(tmp_path: Path, inner: str) -> None:
    rows = [
        {"task": task, inner: doc, "exact_match": float(doc % 2)}
        for task in ("x", "y")
        for doc in range(40)
    ]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    file = read(path)

    assert len(np.unique(evidence(file).case)) == 80
    assert any(f"'task' and '{inner}' together name the case" in note for note in file.notes)


def test_a_task_with_several_samples_is_one_case(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("task,sample_id,passed\na,0,1\na,1,0\nb,0,1\nb,1,1\n")

    assert len(np.unique(evidence(read(path, {"sample_id": "0"})).case)) == 2


@pytest.mark.parametrize("name", RIGHT)
def test_a_condition_chooses_one_row_of_each_document(tmp_path: Path, name: str) -> None:
    file = read(harness_samples(tmp_path / "samples.jsonl"), {"filter": name})

    assert evidence(file).values["accuracy"].tolist() == list(RIGHT[name])
    assert len(np.unique(evidence(file).case)) == 4
    assert any(f"4 of 8 rows have filter={name}" in note for note in file.notes)


def test_the_beginning_of_a_value_is_enough_where_no_other_begins_so(tmp_path: Path) -> None:
    file = read(harness_samples(tmp_path / "samples.jsonl"), {"filter": "strict"})

    assert evidence(file).values["accuracy"].tolist() == list(RIGHT["strict-match"])


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"filtre": "strict"}, "no column 'filtre' (did you mean \"filter\"?)"),
        ({"filter": "lenient"}, "no row has this value; there are strict-match, flexible-extract"),
        ({"filter": ""}, "no row has this value"),
    ],
)
def test_a_condition_that_means_nothing_is_refused(
    tmp_path: Path, where: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read(harness_samples(tmp_path / "samples.jsonl"), where)
    assert message in str(caught.value)


def test_a_column_that_splits_every_case_is_named_instead_of_taken_for_cases(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError) as caught:
        read(harness_samples(tmp_path / "samples.jsonl"))

    assert "4 cases have several rows, which differ in 'filter'" in str(caught.value)
    assert "--where filter=VALUE" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "case,correct,worker\n1,1,a\n1,0,b\n2,1,a\n2,1,a\n",  # Rows of case 2 do not differ.
        "case,correct,note\n1,1,x\n1,0,y\n2,1,z\n2,1,w\n",  # Each case has values of its own.
        "case,repeat,correct,half\n1,1,1,a\n1,2,0,b\n2,1,1,a\n2,2,1,b\n",  # Repeats say it.
        "case,correct,filter\n1,1,a\n1,0,b\n2,1,a\n3,1,a\n",  # One case alone repeats.
    ],
)
def test_repeated_rows_that_no_column_splits_are_repeats_of_their_case(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "s.csv").write_text(text)

    file = read(tmp_path / "s.csv")

    assert len(evidence(file).case) == 4


def test_a_column_that_may_name_the_case_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("prompt_id,correct\n1,1\n2,0\n")

    notes = read(tmp_path / "s.csv").notes

    assert any("no column names the case" in note and "'prompt_id'" in note for note in notes)


def test_http_errors_of_heys_csv_are_failures_without_a_time(tmp_path: Path) -> None:
    import sqlite3

    rows = [(0.02, 200), (0.03, 201), (0.0004, 500), (0.05, 302), (0.0003, 429)]
    (tmp_path / "hey.csv").write_text(
        "response-time,DNS+dialup,status-code,offset\n"
        + "".join(f"{seconds},0.001,{status},0.1\n" for seconds, status in rows)
    )
    metric = chosen_metric("response-time", "lower")
    assert metric is not None
    connection = sqlite3.connect(":memory:")
    file = read_sample_file(tmp_path / "hey.csv", CaseNumbers(connection), (metric,))
    connection.close()

    times = evidence(file).values["response-time"]
    assert times[~np.isnan(times)].tolist() == [0.02, 0.03, 0.05]
    assert evidence(file).values["reliability"].tolist() == [1, 1, 0, 1, 0]
    assert any("2 of 5 rows failed (HTTP 500 1, HTTP 429 1)" in note for note in file.notes)


def test_compare_and_stats_take_conditions(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = harness_samples(tmp_path / "samples.jsonl")
    where = ["--where", "filter=strict"]

    assert _run(["compare", f"file:{path}", f"file:{path}", *where]) in (0, 3)
    assert "4 of 8 rows have filter=strict-match" in capfd.readouterr().err
    assert _run(["stats", "summary", str(path), *where]) == 0
    assert _run(["stats", "variance", str(path), *where]) == 0
    capfd.readouterr()
    assert _run(["stats", "summary", str(path)]) == 2
    assert "differ in 'filter'" in capfd.readouterr().err
    assert _run(["stats", "summary", str(path), "--where", "filter"]) == 2
    assert "expected COLUMN=VALUE" in capfd.readouterr().err
    assert _run(["stats", "summary", str(path), *where, "--where", "filter=flexible"]) == 2
    assert "given twice" in capfd.readouterr().err
    assert _run(["compare", "a", "b", *where]) == 2
    assert "no file is given" in capfd.readouterr().err
