"""Samples of files as evidence: what columns mean, and that what failed counts."""

import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.metric import Metric
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.sample_columns import chosen_metric, meaning
from agentbench_tui.verdicts.files.sample_file import SampleFile, read_sample_file
from agentbench_tui.verdicts.files.sample_folder import read_samples

Read = Callable[..., SampleFile]


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    with closing(sqlite3.connect(":memory:")) as connection:
        numbers = CaseNumbers(connection)

        def read(content: str, *chosen: Metric, name: str = "a.csv") -> SampleFile:
            path = tmp_path / name
            path.write_text(content)
            return read_sample_file(path, numbers, chosen)

        yield read


def only(file: SampleFile) -> TaskEvidence:
    (evidence,) = file.benchmarks.values()
    return evidence


@pytest.mark.parametrize(
    ("column", "metric", "factor"),
    [
        ("e2e_ms", "e2e_ms", 1),
        ("latency_s", "e2e_ms", 1000),
        ("Latency (s)", "e2e_ms", 1000),
        ("duration_us", "e2e_ms", 0.001),
        ("ms", "e2e_ms", 1),
        ("seconds", "e2e_ms", 1000),
        ("time_to_first_token_ms", "ttft_ms", 1),
        ("score", "accuracy", 1),
        ("is_correct", "accuracy", 1),
        ("completion_tokens", "output_tokens", 1),
        ("prompt_tokens", "input_tokens", 1),
        ("cost_usd", "cost_usd_per_task", 1),
        ("relevance", "relevance", 1),
    ],
)
def test_a_column_is_a_metric_by_its_name_and_its_unit(
    column: str, metric: str, factor: float
) -> None:
    (found,) = meaning([column]).values
    assert (found.metric.name, found.factor) == (metric, factor)


@pytest.mark.parametrize("column", ["latency", "min", "us", "chunks", "answer", "received_bytes"])
def test_a_name_without_unit_or_direction_is_no_metric(column: str) -> None:
    assert meaning([column]).values == ()


def test_of_two_columns_of_one_metric_the_plainer_name_counts() -> None:
    for names in (["passed", "score"], ["score", "passed"]):
        assert [one.name for one in meaning(names).values] == ["score"]
    (time,) = meaning(["duration_s", "e2e_ms"]).values
    assert time.name == "e2e_ms"


def test_a_column_that_only_a_file_knows_needs_a_direction() -> None:
    assert chosen_metric("e2e_ms.p95", None) is None
    with pytest.raises(UsageError, match="--better higher or --better lower"):
        chosen_metric("fluency", None)
    found = chosen_metric("fluency", "higher")
    assert found is not None
    assert found.direction == "higher"


def test_values_units_repeats_and_seeds_are_read(read: Read) -> None:
    file = read("task,seed,run,latency_s,score\nx,1,0,0.5,1\nx,1,1,1.5,0\ny,1,0,2,0.25\n")
    evidence = only(file)
    assert file.seeded
    assert evidence.values["e2e_ms"].tolist() == [500, 1500, 2000]
    assert evidence.values["accuracy"].tolist() == [1, 0, 0.25]
    assert evidence.seed.tolist() == [1, 1, 1]
    assert evidence.repeats == 2
    assert evidence.case[0] == evidence.case[1] != evidence.case[2]
    assert any("latency_s × 1000 → e2e_ms" in note for note in file.notes)


def test_what_failed_is_wrong_without_a_time_and_is_counted(read: Read) -> None:
    file = read(
        "case,score,e2e_ms,status\na,1,10,ok\nb,1,20,timeout\nc,,,ok\nd,0.5,,200\ne,,30,done\n"
    )
    evidence = only(file)
    assert evidence.values["accuracy"].tolist() == [1, 0, 0, 0.5, 0]
    assert evidence.values["reliability"].tolist() == [1, 0, 0, 1, 1]
    assert np.array_equal(
        evidence.values["e2e_ms"], [10, math.nan, math.nan, math.nan, 30], equal_nan=True
    )
    notes = "\n".join(file.notes)
    assert "2 of 5 rows failed (timeout 1, empty 1)" in notes
    assert "1 rows have no e2e_ms" in notes
    assert "1 rows have no accuracy: they count as wrong" in notes


@pytest.mark.parametrize(
    ("column", "fine", "failed"),
    [
        ("error", "", "boom"),
        ("error", "false", "true"),
        ("error", "None", "1"),
        ("status", "OK", "503"),
        ("status", "true", "false"),
        ("failure_kind", "", "rate_limited"),
        ("timed_out", "0", "1"),
    ],
)
def test_each_way_to_say_that_a_row_failed(read: Read, column: str, fine: str, failed: str) -> None:
    evidence = only(read(f"ms,{column}\n1,{fine}\n2,{failed}\n"))
    assert evidence.values["reliability"].tolist() == [1, 0]


def test_an_infinite_value_is_told_as_what_it_is(read: Read) -> None:
    file = read("latency_ms\n10\ninf\n\n20\n-Infinity\n")
    assert any("3 of 5 rows failed (infinite 2, empty 1)" in note for note in file.notes)
    assert only(file).values["reliability"].tolist() == [1, 0, 0, 1, 0]
    file = read("latency_ms,correct\n10,1\ninf,1\n,1\n")
    assert any("2 rows have no e2e_ms, of 1 it is infinite" in note for note in file.notes)


def test_a_second_column_of_one_metric_is_told(read: Read) -> None:
    file = read("duration_s,latency_ms\n9,10\n8,20\n")
    assert only(file).values["e2e_ms"].tolist() == [10, 20]
    assert any("'duration_s' ignored: e2e_ms is read from 'latency_ms'" in n for n in file.notes)


def test_failures_of_harness_and_grader_are_left_out_and_said(read: Read) -> None:
    file = read("ms,failure_kind\n1,\n2,harness\n3,grader\n4,timeout\n")
    assert only(file).values["reliability"].tolist() == [1, 0]
    assert any("2 rows excluded, not the agent's fault" in note for note in file.notes)


def test_what_is_no_case_is_not_paired_and_a_seed_alone_is(read: Read) -> None:
    plain = [only(read("ms\n1\n2\n", name=name)) for name in ("a.csv", "b.csv")]
    assert not set(plain[0].case) & set(plain[1].case)
    seeds = [only(read("seed,ms\n7,1\n8,2\n", name=name)) for name in ("a.csv", "b.csv")]
    assert seeds[0].case.tolist() == seeds[1].case.tolist()
    assert len(set(seeds[0].cluster)) == 2  # each seed a draw of its own


def test_benchmarks_are_kept_apart(read: Read) -> None:
    file = read("benchmark,case,ms\nx,1,1\ny,1,2\nx,2,3\n")
    assert {name: one.values["e2e_ms"].tolist() for name, one in file.benchmarks.items()} == {
        "x": [1, 3],
        "y": [2],
    }


def test_cells_that_a_spreadsheet_would_compute_are_what_they_were(read: Read) -> None:
    first = only(read("case,score\n'=1+1,'+0.5\n'@x,1\n"))
    second = only(read('[{"case": "=1+1", "score": 0.5}, {"case": "@x", "score": 1}]'))
    assert first.case.tolist() == second.case.tolist()
    assert first.values["accuracy"].tolist() == second.values["accuracy"].tolist() == [0.5, 1]


def test_shares_may_be_words_or_percentages_and_commas_may_be_decimal(read: Read) -> None:
    evidence = only(read("score;ms\nyes;1,5\n87%;2\nFALSE;3\n"))
    assert evidence.values["accuracy"].tolist() == [1, 0.87, 0]
    assert evidence.values["e2e_ms"].tolist() == [1.5, 2, 3]


def test_a_decimal_comma_makes_points_separate_thousands(read: Read) -> None:
    content = "case;latency_ms;ttft_ms;score\na;1.234;1.5;87,5%\nb;999,5;2.5;1\nc;1.100;1.234;0\n"
    values = only(read(content)).values
    assert values["e2e_ms"].tolist() == [1234, 999.5, 1100]
    assert values["ttft_ms"].tolist() == [1.5, 2.5, 1.234]
    assert values["accuracy"].tolist() == [0.875, 1, 0]


def test_a_chosen_column_is_taken_as_it_is(read: Read) -> None:
    metric = Metric("score", "", "higher", "")
    assert only(read("score\n87\n-3\n", metric)).values["score"].tolist() == [87, -3]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("case,e2e_ms\na,1\nb,soon\n", "a.csv:3: e2e_ms: 'soon' is no number"),
        ("case,score\na,87\n", "a.csv:2: score: 87 is not a share between 0 and 1; --metric score"),
        ("case,accuracy\na,87\n", "write 0.87 or 87%"),
        (
            "case;e2e_ms\na;7\nb;1,5\nc;2.5\n",
            "a.csv:4: e2e_ms: '2.5' has a decimal point, but '1,5' in line 3 a decimal comma",
        ),
        ("case;e2e_ms\na;2.5\nb;1.234,5\n", "a.csv:3: e2e_ms: '1.234,5' has a decimal comma, but"),
        ("case,e2e_ms\na,-1\n", "a.csv:2: e2e_ms: -1 is out of range, 0 to "),
        ("case,e2e_ms\na,1e308\n", "a.csv:2: e2e_ms: 1e+308 is out of range, 0 to "),
        ("case,e2e_ms\na,1\n,2\n", "a.csv:3: case: is empty"),
        ("seed,e2e_ms\n1.5,1\n", "a.csv:2: seed: '1.5' is not a whole number"),
        ("case,answer\na,b\n", "no column is a metric by its name (it has case, answer)"),
        ("agent,e2e_ms\nx,1\ny,2\n", "names 2 agents (x, y)"),
        ("e2e_ms,failure_kind\n1,harness\n", "none of its 1 rows counts"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(read: Read, content: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read(content)
    assert said in str(error.value)


def test_a_chosen_column_that_is_not_there_is_told_with_what_is_near(read: Read) -> None:
    with pytest.raises(UsageError, match=r'no column \'fluenzy\' \(did you mean "fluency"\?\)'):
        read("fluency\n1\n", Metric("fluenzy", "", "higher", ""))


def test_crashing_more_often_is_never_an_advantage(read: Read) -> None:
    """B answers nothing where A is slow: it looks quicker, and is less reliable."""
    rows = [(case, 100 * (1 + case % 5)) for case in range(40)]
    a = only(read("case,score,ms\n" + "".join(f"{case},1,{ms}\n" for case, ms in rows)))
    b = only(
        read(
            "case,score,ms,error\n"
            + "".join(
                f"{case},1,{ms},\n" if ms < 300 else f"{case},,,crash\n" for case, ms in rows
            ),
            name="b.csv",
        )
    )
    for metric in ("accuracy", "reliability"):
        found = compare_metric(metric, a, b, Asked())
        assert found is not None
        assert judged(found, found.p_value).verdict == "worse"


AGENTFARM: dict[str, Any] = {
    "name": "observation_flow",
    "run_id": "A1B2C3D4",
    "parameters": {"width": 200},
    "iterations": {"warmup": 1, "measured": 3},
    "metrics": {"duration_s": {"mean": 9.0, "p50": 9.0, "p95": 9.0, "p99": 9.0}},
    "iteration_metrics": [
        {"index": i, "duration_s": s, "metrics": {"observes_per_sec": 100 / s}}
        for i, s in enumerate((0.5, 0.25, 1.0))
    ],
    "artifacts": [{"name": "x_iter001_psutil.jsonl", "type": "psutil", "path": "/x"}],
    "status": "success",
}


def test_iterations_of_an_agentfarm_result_are_samples(read: Read) -> None:
    metric = Metric("observes_per_sec", "", "higher", "")
    for content in (json.dumps(AGENTFARM), json.dumps(AGENTFARM, indent=2)):
        file = read(content, metric)
        evidence = file.benchmarks["observation_flow"]
        assert evidence.values["e2e_ms"].tolist() == [500, 250, 1000]  # not its own aggregates
        assert evidence.values["observes_per_sec"].tolist() == [200, 400, 100]
        assert any("psutil inside" in note for note in file.notes)
        assert any("of one process" in note for note in file.notes)


def test_of_a_result_timed_alone_no_instrument_is_blamed(read: Read) -> None:
    file = read(json.dumps({**AGENTFARM, "timed_alone": True}))
    assert not any("inside" in note for note in file.notes)


def test_an_agentfarm_result_says_what_it_has_instead(read: Read) -> None:
    with pytest.raises(UsageError, match="no iteration has 'speed'; they have observes_per_sec"):
        read(json.dumps(AGENTFARM), Metric("speed", "", "higher", ""))
    with pytest.raises(UsageError, match="holds no iterations"):
        read(json.dumps({**AGENTFARM, "iteration_metrics": []}))


def test_each_file_of_a_folder_is_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for number, factor in enumerate((1.0, 2.0, 3.0)):
        measured = [
            {"index": i, "duration_s": factor * s, "metrics": {}} for i, s in enumerate((1, 2, 3))
        ]
        (folder / f"r{number}.json").write_text(
            json.dumps({**AGENTFARM, "iteration_metrics": measured})
        )
    (folder / "notes.md").write_text("nothing")
    with closing(sqlite3.connect(":memory:")) as connection:
        evidence = read_samples(folder, CaseNumbers(connection)).benchmarks["observation_flow"]
        assert evidence.repeats == 3
        assert evidence.per_repeat("e2e_ms").tolist() == [2000, 4000, 6000]  # of each the median
        (folder / "r3.csv").write_text("benchmark,ms,score\nobservation_flow,1,1\n")
        together = read_samples(folder, CaseNumbers(connection)).benchmarks["observation_flow"]
        assert together.per_repeat("accuracy").tolist() == [1]
        for path in folder.glob("r*"):
            path.unlink()
        with pytest.raises(UsageError, match="no file with samples"):
            read_samples(folder, CaseNumbers(connection))
