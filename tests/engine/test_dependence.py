"""Answers that hang together: cases with a common source, and judges of one answer."""

import math
from pathlib import Path

import pytest
from carried_out import run, suite

HALF = """
def half(request):
    return request.case.input if request.case.cluster != "b" else "wrong"
"""


def clustered(names: str) -> list[dict[str, str]]:
    return [
        {"id": f"c{n}", "input": str(n), "expected": str(n), "cluster": name}
        for n, name in enumerate(names)
    ]


async def test_cases_of_one_source_are_not_independent(tmp_path: Path) -> None:
    """Four right of cluster a, four wrong of b: two independent facts, not eight.

    Wilson for 1 of 2: 0.5 ± 0.405.
    """
    document = suite(1, dataset={"cases": clustered("aaaabbbb")})
    accuracy = (await run(tmp_path, document, HALF, "half")).metrics("half")["accuracy"]
    assert accuracy["value"] == 0.5
    weight = 1.959964**2 / 2
    half = math.sqrt(0.25 * weight + weight**2 / 4) / (1 + weight)
    assert accuracy["low"] == pytest.approx(0.5 - half, abs=1e-5)
    assert accuracy["high"] == pytest.approx(0.5 + half, abs=1e-5)


async def test_without_clusters_each_case_counts(tmp_path: Path) -> None:
    """Wilson for 4 of 8: 0.5 ± 0.285."""
    cases = [{**case, "cluster": case["id"]} for case in clustered("aaaaaaaa")]
    document = suite(1, dataset={"cases": cases})
    code = "def four(prompt):\n    return prompt if int(prompt) < 4 else '?'\n"
    accuracy = (await run(tmp_path, document, code, "four")).metrics("four")["accuracy"]
    assert accuracy["low"] == pytest.approx(0.5 - 0.2848, abs=1e-3)
    assert accuracy["high"] == pytest.approx(0.5 + 0.2848, abs=1e-3)


JUDGED = """
def echo(prompt):
    return prompt

def strict(request):
    # The answer under judgment is one of 0 … 3; only 0 pleases the strict judge.
    return '{"reason": "so", "grade": 5}' if "answer-0" in request.text() else _no()

def mild(request):
    return '{"reason": "so", "grade": 5}' if "answer-3" not in request.text() else _no()

def _no():
    return '{"reason": "so", "grade": 1}'
"""


async def test_judges_beside_the_suite_are_found_and_their_agreement_told(tmp_path: Path) -> None:
    """Grades (5,5), (1,5), (1,5), (1,1): they agree on 2 of 4; Cohen's kappa is 0.2.

    By chance: P(5) is 1/4 and 3/4, P(1) is 3/4 and 1/4, so 3/16 + 3/16 = 3/8 agree anyway;
    (1/2 - 3/8) / (1 - 3/8) = 1/5.
    """
    cases = [{"id": f"c{n}", "input": f"answer-{n}", "expected": None} for n in range(4)]
    judges = ["python:agents.py:strict", "python:agents.py:mild"]
    document = suite(
        1,
        dataset={"cases": cases},
        scorers=[{"model_graded": {"judges": judges, "rubric": "It is right."}}],
    )
    found = (await run(tmp_path, document, JUDGED, "echo")).execution("echo")["judges"]
    assert found["judges"] == 2
    assert found["answers"] == 4
    assert math.isclose(found["agreement"], 0.5)
    assert math.isclose(found["kappa"], 0.2)
