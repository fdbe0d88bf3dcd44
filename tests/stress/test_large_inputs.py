"""The scenario large_inputs: the breaking size, what broke, and what length costs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty_process import faulty
from faulty_server import KINDS, Behavior
from simulated_stand import SimulatedStand, simulated
from staged import staged

from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Request
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.search.length_cost import length_cost


class Asked:
    """An agent that says one thing."""

    def __init__(self, kind: FailureKind | None, detail: str = "") -> None:
        self._kind, self._detail = kind, detail
        self.words: list[int] = []

    async def answer(self, request: Request) -> Answer:
        self.words.append(len(request.text().split()))
        if self._kind is None:
            return Answer("yes")
        raise AgentFailure(self._kind, self._detail)


async def report_of(behavior: Behavior, agent: Asked | None = None, **given: Any) -> ScenarioReport:
    stand = SimulatedStand(behavior, ms_per_1000_tokens=12.0)
    stand.agent = agent
    return await simulated(
        "large_inputs",
        stand,
        **({"duration_s": 20, "recovery_s": 10, "most_input_tokens": 16384} | given),
    )


async def test_what_serves_the_longest_input_breaks_nowhere() -> None:
    report = await report_of(KINDS["perfect"])
    (point,) = report.breaking_points
    assert (point.status, point.passes, point.fails) == ("not reached", 16384, None)
    assert report.score is not None
    assert report.score.value > 99
    assert [advice.severity for advice in report.advice] == ["info"]


async def test_the_cost_of_length_is_found() -> None:
    report = await report_of(KINDS["perfect"])
    low = report.observations["ms_per_1000_tokens_low"]
    high = report.observations["ms_per_1000_tokens_high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low <= 12.0 <= high


async def test_an_orderly_refusal_is_told_from_a_break() -> None:
    said = "HTTP 413 from 127.0.0.1:8000: the input has 4096 tokens, at most 4000 are taken"
    agent = Asked(FailureKind.SERVER, said)
    report = await report_of(KINDS["refuses_long"], agent)
    (point,) = report.breaking_points
    assert point.status == "found"
    assert point.passes is not None
    assert point.fails is not None
    assert point.passes <= 4000 < point.fails <= 1.1 * point.passes
    assert agent.words == [round(point.fails)]
    assert report.observations["orderly_refusal"] is True
    assert report.observations["broke_first"] == said
    assert {advice.rule for advice in report.advice} == {"long-inputs-refused", "cost-of-length"}
    # What it takes is scored, and not that it refuses the rest as it should.
    (stress,) = (window for window in report.windows if window.phase == "stress")
    assert stress.input_tokens == round(point.passes)
    assert report.score is not None
    assert report.score.value > 99


@pytest.mark.parametrize(
    ("kind", "agent", "first"),
    [
        ("hangs_on_long", Asked(FailureKind.TIMEOUT), "timeout"),
        ("resets_on_long", Asked(FailureKind.CONNECTION), "connection"),
        ("refuses_long", Asked(FailureKind.SERVER, "HTTP 500 from 127.0.0.1:8000"), "HTTP 500"),
        ("refuses_long", Asked(FailureKind.SERVER, "HTTP 400 from 127.0.0.1:8000"), "HTTP 400"),
    ],
)
async def test_a_break_is_no_orderly_refusal(kind: str, agent: Asked, first: str) -> None:
    report = await report_of(KINDS[kind], agent)
    assert report.observations["orderly_refusal"] is False
    assert report.score is not None
    assert report.score.value < 70
    assert first in str(report.observations["broke_first"])
    worst = report.advice[0]
    assert (worst.rule, worst.severity) == ("long-inputs-break", "critical")


async def test_of_an_agent_that_cannot_be_asked_alone_it_is_not_known() -> None:
    report = await report_of(KINDS["refuses_long"])
    assert "orderly_refusal" not in report.observations
    assert "orderly_refusal" in report.missing
    assert report.advice[0].severity == "warning"


async def test_a_limit_on_p95_breaks_what_takes_too_long() -> None:
    """20 ms and 12 ms for 1,000 tokens: 100 ms are reached at about 6,600 tokens."""
    report = await report_of(KINDS["perfect"], limits={"p95_ms": 100})
    (point,) = report.breaking_points
    assert point.broke == ("p95 of latency",)
    assert point.passes is not None
    assert point.fails is not None
    assert 5000 < point.passes < point.fails < 7500


async def test_what_is_slow_and_still_answered_is_no_refusal_in_disorder() -> None:
    report = await report_of(KINDS["perfect"], Asked(None), limits={"p95_ms": 100})
    assert report.breaking_points[0].broke == ("p95 of latency",)
    assert "orderly_refusal" not in report.observations
    assert "is answered" in report.missing["orderly_refusal"]
    assert report.advice[0].severity == "warning"


async def test_a_refusal_by_an_address_of_version_six_is_orderly() -> None:
    said = "HTTP 413 from [::1]:8000: at most 4000 are taken"
    report = await report_of(KINDS["refuses_long"], Asked(FailureKind.SERVER, said))
    assert report.observations["orderly_refusal"] is True


async def test_small_limits_are_kept() -> None:
    report = await report_of(KINDS["perfect"], most_input_tokens=100)
    assert {window.input_tokens for window in report.windows} == {None, 100}
    assert "ms_per_1000_tokens" in report.missing


def test_the_slope_has_an_interval_that_outliers_do_not_move() -> None:
    draw = np.random.default_rng(3)
    sizes = [128, 256, 512, 1024, 2048, 4096, 8192] * 2
    points = [(size, 50 + 0.012 * size + float(draw.normal(0, 1))) for size in sizes]
    points[3] = (1024, 900.0)
    cost = length_cost(points)
    assert cost is not None
    assert cost.low <= 12.0 <= cost.high
    assert cost.high - cost.low < 3.0
    assert length_cost(points[:5]) is None
    assert length_cost([(128, 50.0), (256, 51.0), (512, 52.0)] * 3) is None


async def test_a_real_server_that_refuses_long_inputs(tmp_path: Path) -> None:
    with faulty("refuses_long", service_ms=5, most_tokens=1100) as server:
        ended = await staged(
            tmp_path,
            server.target,
            scenario="large_inputs",
            most_input_tokens=1200,
            duration_s=90,
            recovery_s=10,
        )
    report = ended.told
    (point,) = report.breaking_points
    assert (report.status, point.status) == ("complete", "found")
    assert point.passes is not None
    assert point.fails is not None
    assert point.passes <= 1100 < point.fails <= 1.1 * point.passes
    assert report.observations["orderly_refusal"] is True
    assert "at most 1100 are taken" in str(report.observations["broke_first"])
