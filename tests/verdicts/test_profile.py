"""Where time and tokens went, by values that were computed by hand."""

from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.profile import ProfilePhase
from agentbench_tui.verdicts.profile.phases import (
    NOT_STREAMED,
    Observed,
    SpanNode,
    answer_phases,
    covered_ms,
    nested,
    request_phases,
)
from agentbench_tui.verdicts.profile.profile import TimeProfile, profile


def span(name: str, start: float, took: float) -> dict[str, object]:
    return {"name": name, "start_ms": start, "duration_ms": took}


def phase(times: TimeProfile, name: str) -> ProfilePhase:
    (found,) = [one for one in times.phases if one.name == name]
    return found


def test_a_span_lies_in_the_shortest_one_that_holds_it() -> None:
    found = nested([span("tool", 20, 10), span("plan", 0, 100), span("step", 10, 40)])
    assert found == (
        SpanNode("plan", 0, 100, (SpanNode("step", 10, 50, (SpanNode("tool", 20, 30),)),)),
    )
    assert found[0].own_ms == 60
    assert found[0].children[0].own_ms == 30


def test_spans_that_only_overlap_stand_side_by_side_and_count_once() -> None:
    found = nested([span("a", 0, 60), span("b", 40, 60)])
    assert [one.name for one in found] == ["a", "b"]
    assert covered_ms(found, 0, 200) == 100
    assert covered_ms(found, 50, 80) == 30


def test_a_span_that_took_less_than_nothing_is_left_out() -> None:
    assert nested([span("a", 0, -1)]) == ()


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=60))
def test_no_span_is_lost_and_none_reaches_over_what_holds_it(times: list[tuple[int, int]]) -> None:
    seen = 0

    def walk(node: SpanNode) -> None:
        nonlocal seen
        seen += 1
        assert 0 <= node.own_ms <= node.took_ms
        for child in node.children:
            assert node.start_ms <= child.start_ms
            assert child.end_ms <= node.end_ms + 0.001
            walk(child)

    for root in nested([span("s", start, took) for start, took in times]):
        walk(root)
    assert seen == len(times)


STREAMED = [
    # Two answers: 100 ms of which 30 until the first token, and after 50 ms of another attempt
    # one of 250 ms of which 70 until the first token. 400 ms in all.
    Observed(1, "a", 0.0, 100.0, 30.0, correct=True, input_tokens=10, output_tokens=20),
    Observed(2, "b", 50.0, 250.0, 70.0, correct=False, input_tokens=30, output_tokens=40),
]


def test_shares_of_what_the_harness_saw() -> None:
    found = profile(STREAMED)
    assert found.total_ms == 400
    assert phase(found, "waiting").share == 50 / 400
    assert phase(found, "first token").total_ms == 100
    assert phase(found, "generation").total_ms == 70 + 180
    assert phase(found, "generation").mean_ms == 125
    assert phase(found, "answer, whole").share is None
    assert phase(found, "scoring").reason == "not timed"
    assert [(one.phase.name, one.value) for one in found.slow] == [
        ("generation", 250 / 400),
        ("first token", 100 / 400),
        ("waiting", 50 / 400),
    ]


def test_what_was_not_measured_has_a_reason_and_no_number() -> None:
    found = profile([Observed(1, "a", 0.0, 100.0)])
    assert phase(found, "first token").total_ms is None
    assert phase(found, "first token").reason == NOT_STREAMED
    assert phase(found, "tools").reason == "no spans reported"
    assert found.flame is None
    assert all(one.value is None and one.reason for one in found.tokens)


def test_nothing_observed_is_no_error() -> None:
    found = profile([])
    assert found.typical is None
    assert found.slowest is None
    assert found.slow == ()


def test_time_of_spans_is_their_own_and_the_rest_is_outside_of_them() -> None:
    spans = nested([span("plan", 0, 80), span("tool:a", 10, 20), span("tool:b", 20, 20)])
    found = profile([Observed(1, "a", 0.0, 100.0, spans=spans)])
    assert phase(found, "plan").total_ms == 80 - 30
    assert phase(found, "tools").total_ms == 30, "both at once count once"
    assert phase(found, "outside of spans").total_ms == 20
    assert plain(found.flame) == {
        "name": "answer",
        "value": 100,
        "children": (
            {
                "name": "plan",
                "value": 80,
                "children": (
                    {"name": "tool:a", "value": 20, "children": ()},
                    {"name": "tool:b", "value": 20, "children": ()},
                ),
            },
        ),
    }


def test_a_flame_is_a_mean_over_answers() -> None:
    both = [
        Observed(1, "a", 0.0, 100.0, spans=nested([span("plan", 0, 60)])),
        Observed(2, "b", 0.0, 50.0, spans=nested([span("plan", 0, 20)])),
        Observed(3, "c", 0.0, 999.0),
    ]
    flame = profile(both).flame
    assert flame is not None
    assert flame.value == 75
    assert flame.children[0].value == 40


def test_a_long_tail_is_a_bottleneck_from_twenty_values_on() -> None:
    times = [10.0] * 18 + [50.0, 60.0]
    made = [Observed(n, f"c{n}", 0.0, ms) for n, ms in enumerate(times)]
    # The 19th of 20 values in order is the 95th percentile, the 10th the median.
    assert phase(profile(made), "answer, whole").p95_ms == 50
    (tail,) = [one for one in profile(made).slow if one.kind == "tail"]
    assert (tail.phase.name, tail.value, tail.phase.n) == ("answer, whole", 5.0, 20)
    assert phase(profile(made[1:]), "answer, whole").p95_ms is None


def test_tokens_by_what_they_were_spent_on() -> None:
    failed = Observed(3, "c", 0.0, 5.0, failed=True, input_tokens=7)
    by_name = {one.name: one.value for one in profile([*STREAMED, failed]).tokens}
    assert by_name == {
        "input": 47,
        "output": 60,
        "cached": None,
        "reasoning": None,
        "an answer": 107 / 3,
        "a right answer": 107,
        "of failures": 7,
        "of wrong ones": 70,
    }


def test_the_typical_answer_is_the_median_of_those_that_did_not_fail() -> None:
    made = [Observed(n, f"c{n}", 0.0, float(ms)) for n, ms in enumerate((5, 1, 3))]
    found = profile([*made, Observed(9, "late", 0.0, 99.0, failed=True)])
    assert found.typical is not None
    assert found.typical.case_id == "c2"
    assert found.slowest is not None
    assert found.slowest.case_id == "late"


def test_phases_of_one_answer_begin_when_it_was_first_sent() -> None:
    row = {
        "e2e_ms": 100.0,
        "waiting_ms": 40.0,
        "sent_ms": 1040.0,
        "ttft_ms": 30.0,
        "answer": {"spans": [span("plan", 10, 50)]},
        "attempts": [{"attempt": 0, "failure_kind": "timeout", "sent_ms": 1000.0, "e2e_ms": 25.0}],
    }
    found = {one.name: (one.start_ms, one.end_ms) for one in answer_phases(row)}
    assert found == {
        "waiting": (0, 40),
        "answer": (40, 140),
        "plan": (50, 100),
        "scoring": (None, None),
    }
    waiting, answer = answer_phases(row)[:2]
    assert [(one.name, one.end_ms) for one in waiting.children] == [("attempt 1: timeout", 25)]
    assert [(one.start_ms, one.end_ms) for one in answer.children] == [(40, 70), (70, 140)]


def test_phases_of_a_request_that_waited_for_its_turn() -> None:
    found = request_phases(Observed(0, "r", 5.0, 20.0, 8.0))
    assert [(one.name, one.start_ms, one.end_ms) for one in found] == [
        ("waiting", 0, 5),
        ("first token", 5, 13),
        ("generation", 13, 25),
    ]
    assert request_phases(Observed(0, "r", 5.0, None)) == ()
