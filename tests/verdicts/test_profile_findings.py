"""What a profile comes to, by values that were computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.contracts.profile import ParallelizationScore
from agentbench_tui.verdicts.profile.phases import Observed, SpanNode
from agentbench_tui.verdicts.profile.profile import profile
from agentbench_tui.verdicts.profile.profile_findings import opportunities, token_analysis


def answer(seq: int, e2e_ms: float, *, waiting_ms: float = 0.0, **more: object) -> Observed:
    return Observed(seq, f"case-{seq}", waiting_ms, e2e_ms, **more)  # type: ignore[arg-type]


def found(
    observed: list[Observed], at_once: ParallelizationScore | None = None
) -> dict[str, float]:
    times = profile(observed)
    told = opportunities(times, observed, at_once)
    return {one.category: one.estimated_impact for one in told}


def test_tokens_of_failed_and_wrong_answers_are_wasted() -> None:
    told = token_analysis(
        [
            answer(1, 1, correct=True, input_tokens=60, output_tokens=10, cached_tokens=20),
            answer(2, 1, correct=False, input_tokens=10, output_tokens=10),
            answer(3, 1, failed=True, input_tokens=10),
            answer(4, 1, correct=True),
        ]
    )
    assert told.input_tokens == 80
    assert told.output_tokens == 20
    assert told.cache_hits == 20
    assert told.wasted_tokens == 30
    assert told.token_efficiency == pytest.approx(0.7)
    assert told.n == 3


def test_what_nobody_told_is_no_number() -> None:
    told = token_analysis([answer(1, 1, correct=True)])
    assert (told.input_tokens, told.wasted_tokens, told.token_efficiency) == (None,) * 3
    assert told.reason == "not reported by the agent"
    assert token_analysis([answer(1, 1, input_tokens=5)]).reason == "no answer was judged"


def test_tools_one_after_another_could_go_on_side_by_side() -> None:
    tools = (SpanNode("tool:a", 0, 30), SpanNode("tool:b", 30, 80))
    one = answer(1, 100, spans=(SpanNode("act", 0, 80, tools),))
    assert found([one]) == {"tools in parallel": pytest.approx(0.3)}, "80 ms instead of 50"


def test_tools_side_by_side_save_nothing() -> None:
    tools = (SpanNode("tool:a", 0, 50), SpanNode("tool:b", 0, 50))
    assert found([answer(1, 100, spans=tools)]) == {}


def test_waiting_failures_and_idle_places_are_told_most_first() -> None:
    observed = [
        answer(1, 60, waiting_ms=20, failed=True, input_tokens=25),
        answer(2, 20, correct=True, input_tokens=75),
    ]
    at_once = ParallelizationScore(value=0.9, n=2, concurrency=4, mean_in_flight=3.6, reason=None)
    told = found(observed, at_once)
    assert list(told) == ["failures", "waiting", "concurrency"]
    assert list(told.values()) == pytest.approx([0.25, 0.2, 0.1])


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=20))
def test_no_more_is_saved_than_was_spent(times: list[tuple[int, int]]) -> None:
    spans = tuple(SpanNode("tool:x", start, start + took) for start, took in times)
    assert all(0 <= gain <= 1 for gain in found([answer(1, 100, spans=spans)]).values())
