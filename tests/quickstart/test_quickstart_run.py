"""The quickstart suite end to end, and the suite `gsm8k` with a file of our own."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shipped import right, run_shipped, score


async def test_the_four_agents_differ_and_all_is_measured(tmp_path: Path) -> None:
    result = await run_shipped(tmp_path, "quickstart", iterations=1)
    document = result.document

    assert document["status"] == "complete"
    assert len(document["executions"]) == 16
    assert not any(one["simulated"] for one in document["executions"])
    accuracy = {name: score(result, name) for name in ("planner", "rules", "memory", "keyword")}
    assert sorted(accuracy, key=accuracy.__getitem__, reverse=True) == list(accuracy)
    assert accuracy["planner"] > accuracy["rules"] + 0.1
    assert accuracy["rules"] > accuracy["keyword"] + 0.2

    failures = {
        name: sum(
            one["failures"].get("limit", 0)
            for one in document["executions"]
            if one["agent_id"] == name
        )
        for name in accuracy
    }
    assert failures == {"planner": 0, "rules": 0, "memory": 7, "keyword": 0}
    assert score(result, "memory", "reliability") < score(result, "rules", "reliability") == 1
    for one in document["executions"]:
        assert set(one["failures"]) <= {"limit"}
        assert one["metrics"]["e2e_ms.p50"]["value"] > 0
        assert one["metrics"]["memory_peak_mb"]["value"] > 5
        assert one["metrics"]["cost_usd"]["value"] > 0
        assert one["scores"]["efficiency"] < 1
        if one["cases"]["correct"]:
            assert one["metrics"]["cpu_ms_per_correct"]["value"] > 0.01
    leaders = [one["agent_id"] for one in document["leaderboard"]]
    assert leaders[:2] == ["planner", "rules"]
    assert [one["overall"] is not None for one in document["leaderboard"]] == [True] * 4


PROBLEMS = (
    ("Pia has 3 bags of 12 nuts and eats 5. How many are left?", "3*12=<<3*12=36>>36", 31),
    ("A tank of 1,500 l loses 250 l a day. How much is in it after 2 days?", "2*250=500", 1000),
    ("Two pens cost $3. What do ten pens cost, in dollars?", "10/2=<<10/2=5>>5", 15),
    ("A film of 95 minutes has 2 breaks of 5. How many minutes is that?", "2*5=10", 105),
)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """A file of the form of GSM8K's recorded solutions, of our own making."""
    path = tmp_path / "problems.jsonl"
    lines = []
    for nth, (question, step, answer) in enumerate(PROBLEMS):
        other = answer if nth % 2 else answer + 1
        record = {
            "question": question,
            "ground_truth": f"First {step}\nA: {answer:,}",
            "right": {"solution": f"By {step} we get to\nA: {answer}"},
            "half": {"solution": f"I count to {other} and not {answer}.\nA: {other:,}"},
            "none": {"solution": ""},
        }
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


async def test_recorded_solutions_are_scored_without_a_model(
    tmp_path: Path, problems: Path
) -> None:
    names = ("right", "half", "none")
    agents = [f"{name}=replay:{problems}?answer={name}.solution" for name in names]
    result = await run_shipped(tmp_path, "gsm8k", *agents, settings=(f"dataset={problems}",))
    assert [right(result, name) for name in names] == [(4, 4), (2, 4), (0, 4)]
    leaders = [(one["rank"], one["agent_id"]) for one in result.document["leaderboard"]]
    assert leaders == [(1, "right"), (2, "half"), (3, "none")]
