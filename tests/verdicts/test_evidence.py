"""Evidence out of the store: which observations count, and for what."""

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_made import asked

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import Result, run, suite

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.selection import executions_where
from agentbench_tui.verdicts.comparison.pairing import case_values, pair
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.load_evidence import LoadEvidence
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence, task_evidence

AGENTS = """
def fine(prompt):
    return prompt
def dead(prompt):
    raise RuntimeError("no")
"""


def evidence(database: Path, agent: str, numbers: CaseNumbers | None = None) -> TaskEvidence:
    with closing(connect_to_read(database)) as connection:
        rows = executions_where(connection, agent=agent)
        return task_evidence(connection, rows, numbers or CaseNumbers(connection))


def measured(folder: Path, document: dict[str, Any], *agents: str, **options: Any) -> Result:
    return asyncio.run(run(folder, document, AGENTS, *agents, **options))


def test_what_failed_is_wrong_and_has_no_time(tmp_path: Path) -> None:
    found = evidence(measured(tmp_path, suite(3), "dead").database, "dead")
    assert found.values["accuracy"].tolist() == [0, 0, 0]
    assert found.values["reliability"].tolist() == [0, 0, 0]
    assert found.values["error_rate"].tolist() == [1, 1, 1]
    assert "e2e_ms" not in found.values
    assert len(found.per_repeat("e2e_ms")) == 0


def test_a_benchmark_without_a_scorer_has_no_accuracy(tmp_path: Path) -> None:
    found = evidence(measured(tmp_path, suite(3, scorers=[]), "fine").database, "fine")
    assert "accuracy" not in found.values
    assert found.values["reliability"].tolist() == [1, 1, 1]


def test_repeats_of_several_runs_are_counted_on(tmp_path: Path) -> None:
    for _ in range(2):
        result = measured(tmp_path, suite(3), "fine", repeats=2)
    found = evidence(result.database, "fine")
    assert found.repeats == 4
    assert sorted(set(found.repeat.tolist())) == [0, 1, 2, 3]
    stored = result.column("SELECT e2e_ms FROM answers ORDER BY execution_key, repeat, case_key")
    by_repeat = np.median(np.array(stored).reshape(4, 3), axis=1)
    assert found.per_repeat("e2e_ms").tolist() == pytest.approx(by_repeat.tolist())


def test_equal_cases_of_different_datasets_are_one(tmp_path: Path) -> None:
    measured(tmp_path, suite(3), "fine")
    database = measured(tmp_path, suite(5), "dead").database
    with closing(connect_to_read(database)) as connection:
        numbers = CaseNumbers(connection)
        a, b = evidence(database, "fine", numbers), evidence(database, "dead", numbers)
        assert set(a.case.tolist()) < set(b.case.tolist())
        assert [numbers.name(one) for one in a.case.tolist()] == ["c0", "c1", "c2"]


def test_cases_of_one_cluster_go_together(tmp_path: Path) -> None:
    document = suite(6)
    for number, case in enumerate(document["benchmarks"][0]["dataset"]["cases"][:4]):
        case["cluster"] = f"page {number // 2}"
    database = measured(tmp_path, document, "fine", "dead").database
    with closing(connect_to_read(database)) as connection:
        numbers = CaseNumbers(connection)
        a, b = evidence(database, "fine", numbers), evidence(database, "dead", numbers)
    clusters = a.cluster.tolist()
    assert clusters[0] == clusters[1] != clusters[2] == clusters[3]
    assert len(set(clusters)) == 4
    found = pair(*(case_values(one, "accuracy", on_logs=False) for one in (a, b)))
    assert found.is_clustered


async def test_recorded_answers_take_no_time(tmp_path: Path) -> None:
    records = [{"question": str(n), "answer": str(n)} for n in range(3)]
    (tmp_path / "records.jsonl").write_text("\n".join(json.dumps(one) for one in records))
    (tmp_path / "suite.json").write_text(json.dumps(suite(3)))
    target = "told=replay:records.jsonl?answer=answer"
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(agents=(target,), folder=tmp_path))
    create_or_migrate(tmp_path / "store.db")
    await carry_out(plan, tmp_path / "store.db")
    found = evidence(tmp_path / "store.db", "told")
    assert found.values["accuracy"].tolist() == [1, 1, 1]
    assert not {"e2e_ms", "ttft_ms", "waiting_ms"} & found.values.keys()
    assert len(found.per_repeat("throughput_per_s")) == 0


def test_totals_of_a_repeat(tmp_path: Path) -> None:
    result = measured(tmp_path, suite(4), "fine", repeats=2)
    found = evidence(result.database, "fine")
    asking = result.column("SELECT asking_s FROM iterations WHERE NOT warmup ORDER BY repeat")
    assert found.per_repeat("throughput_per_s").tolist() == pytest.approx([4 / s for s in asking])
    assert len(found.per_repeat("tokens_per_correct")) == 0  # it does not tell its tokens


def test_some_cases_alone() -> None:
    both = asked(4, 2, accuracy=[[1, 0, 1, 0], [1, 1, 1, 0]])
    found = both.only(np.array([0, 1]))
    assert found.per_repeat("accuracy").tolist() == [0.5, 1.0]
    assert both.per_repeat("accuracy").tolist() == [0.5, 0.75]


def test_a_run_of_loads_has_the_mean_of_its_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    repeats = [(0, {"e2e_ms.p50": (10.0, 5)}), (1, {"e2e_ms.p50": (7.0, 5)}),
               (0, {"e2e_ms.p50": (20.0, 5)}), (1, {"reliability": (1.0, 5)})]  # fmt: skip
    monkeypatch.setattr(LoadEvidence, "_repeats", repeats)
    with closing(sqlite3.connect(":memory:")) as connection:
        found = LoadEvidence(connection, [])
    assert found.per_repeat("e2e_ms").tolist() == [10, 7, 20]
    assert found.by_run().per_repeat("e2e_ms").tolist() == [15, 7]


def test_a_distribution_without_a_part_is_the_median_of_times_and_the_mean_of_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of tasks, so that boards of loads rank by `output_tokens` too."""
    repeat = {"e2e_ms.p50": (10.0, 5), "e2e_ms.mean": (12.0, 5), "output_tokens.mean": (7.0, 5)}
    monkeypatch.setattr(LoadEvidence, "_repeats", [(0, repeat)])
    with closing(sqlite3.connect(":memory:")) as connection:
        found = LoadEvidence(connection, [])
    names = ("e2e_ms", "e2e_ms.mean", "output_tokens", "output_tokens.mean")
    assert [found.per_repeat(name).tolist() for name in names] == [[10], [12], [7], [7]]
