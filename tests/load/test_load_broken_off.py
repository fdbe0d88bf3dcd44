"""Loads whose plan breaks answers off: what can be said of those, and what cannot."""

from pathlib import Path
from typing import Any

import pytest
from loads import leave_calibration_out, load_each
from pydantic import ValidationError
from samples import Sample, columns, done, window

from agentbench_tui.engine.task.aggregate import Aggregate
from agentbench_tui.load.results.aggregate import CHUNKS_COUNTED, aggregate
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.summary import LoadSummary, summarize
from agentbench_tui.load.spec import LoadSpec
from agentbench_tui.model.agent import AgentSpec

AGENT = AgentSpec("a", "1", "openai:http://127.0.0.1/v1#m")


def broken_off(count: int, ttft: float = 0.1) -> list[Sample]:
    """Ten a second, each broken off after its third token."""
    return [
        Sample(n / 10, 0.2, ttft=ttft, gaps=[0.05, 0.05], tokens=3, counted=False,
               status="cancelled")
        for n in range(count)
    ]  # fmt: skip


def found_of(samples: list[Sample], **slo: float) -> tuple[Aggregate, LoadSummary]:
    worker = done(offered=len(samples), sent=len(samples), window_s=10.0)
    requests = Requests(columns(samples), {0: window(worker, slo=slo)})
    found = aggregate(requests, AGENT)
    return found, summarize(requests, found)


def test_the_rates_and_tokens_of_what_was_broken_off_are_told() -> None:
    found, summary = found_of(broken_off(100))
    assert found.metrics["request_throughput_per_s"].value == pytest.approx(10)
    assert found.metrics["output_tokens_per_s"].value == pytest.approx(30)
    assert found.metrics["output_tokens_per_s"].reason == CHUNKS_COUNTED
    assert found.metrics["e2e_ms.p50"].value is None
    assert (summary.tokens_estimated, summary.requests.cancelled) == (True, 100)
    assert "no request was answered, so there are no times to judge" not in summary.reasons


def test_answers_that_the_server_counts_are_no_estimates_for_what_is_beside_them() -> None:
    whole = [Sample(n / 10, 0.3, ttft=0.1, gaps=[0.1, 0.1], tokens=3) for n in range(50)]
    found, _ = found_of([*whole, *broken_off(50)])
    assert found.metrics["output_tokens.mean"].reason is None
    assert found.metrics["tpot_ms.p50"].reason is None
    assert found.metrics["output_tokens_per_s"].reason == CHUNKS_COUNTED


def test_limits_on_the_first_token_are_held_against_what_was_broken_off() -> None:
    samples = [*broken_off(80), *broken_off(20, ttft=0.4)]
    found, summary = found_of(samples, ttft_ms=200.0)
    assert found.metrics["goodput_share"].value == pytest.approx(0.8)
    assert found.metrics["goodput_per_s"].value == pytest.approx(8)
    assert not [line for line in summary.warnings if "SLO" in line]


def test_limits_on_the_whole_answer_cannot_be() -> None:
    found, summary = found_of(broken_off(100), e2e_ms=300.0, tpot_ms=60.0)
    for name in ("goodput_share", "goodput_per_s"):
        assert found.metrics[name].value is None
        assert found.metrics[name].reason == (
            "every answer was canceled as planned: e2e_ms, tpot_ms cannot be judged"
        )
    assert summary.warnings == (
        (
            "100 answers were canceled as planned: e2e_ms and tpot_ms of the SLO could not be"
            " judged for them"
        ),
    )


def test_of_a_mix_the_whole_answers_are_judged_by_all_limits() -> None:
    whole = [Sample(n / 10, 0.3, ttft=0.1, gaps=[0.2], tokens=2) for n in range(40)]
    slow = [Sample(4 + n / 10, 0.9, ttft=0.1, gaps=[0.8], tokens=2) for n in range(10)]
    found, _ = found_of([*whole, *slow, *broken_off(50)], e2e_ms=500.0)
    assert found.metrics["goodput_share"].value == pytest.approx(40 / 50)
    both, _ = found_of([*whole, *slow, *broken_off(50)], e2e_ms=500.0, ttft_ms=200.0)
    assert both.metrics["goodput_share"].value == pytest.approx(90 / 100)


def block(**more: Any) -> dict[str, Any]:
    return {"rate": 10, "requests": 5, "workload": [{"cancel_after_tokens": 3}], **more}


def test_what_comes_in_one_piece_cannot_be_broken_off() -> None:
    LoadSpec.model_validate(block(stream=True))
    with pytest.raises(ValidationError, match="does not go with `stream: false`"):
        LoadSpec.model_validate(block(stream=False))


async def test_an_agent_that_does_not_stream_is_refused_before_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_calibration_out(monkeypatch)
    target = {"target": "openai:http://127.0.0.1:9/v1#m", "options": {"stream": False}}
    inside = {"target": "reference:perfect"}
    found = await load_each(tmp_path, {"whole": target, "inside": inside}, block())
    assert "this agent is set not to stream" in found["whole"].execution["stop_reason"]
    assert "leave it out for reference: agents" in found["inside"].execution["stop_reason"]
