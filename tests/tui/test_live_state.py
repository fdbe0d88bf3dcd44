"""What is known of a run follows from what its viewer told, and is bounded."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_updates import (
    BEGAN,
    execution,
    failure,
    run_row,
    tick,
    update,
    wish,
)

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.queries.slowest import SlowAnswer
from agentbench_tui.tui.agent_series import AgentSeries
from agentbench_tui.tui.drawing.glyphs import UNICODE
from agentbench_tui.tui.drawing.grid_data import Cell, GridData, fitting
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.pages.live import tables as live_tables
from agentbench_tui.tui.pages.live import view as live_view
from agentbench_tui.tui.pages.live.machine import machine
from agentbench_tui.tui.pages.live.remaining_time import left_s, share_done
from agentbench_tui.tui.pages.live.state import KEPT_S, Course, LiveState, Second
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.facts import Fact
from agentbench_tui.tui.widgets.gauge import Gauge
from agentbench_tui.tui.widgets.gpu_line import GpuLine, GpuProcessLine
from agentbench_tui.tui.widgets.status_bar import paint_status
from agentbench_tui.verdicts.load.reference_ticks import Reference
from agentbench_tui.verdicts.ranking.running_board import RunningBoard, Standing


def texts(data: GridData) -> list[list[str]]:
    return [
        [cell.text if isinstance(cell, Cell) else cell for cell in row.cells] for row in data.rows
    ]


def of(*updates: object) -> LiveState:
    state = LiveState()
    for one in updates:
        state.take(one)  # type: ignore[arg-type]
    return state


def test_ticks_add_up_by_execution_and_by_second() -> None:
    run, rows = run_row(["task", "task"]), [execution(1), execution(2)]
    state = of(
        update(run, rows, at=2, ticks=[tick(1, [10.0, 20.0], observed=3, correct=1)]),
        update(run, rows, at=5, ticks=[tick(4, [30.0], key=2), tick(4, [40.0], key=1)]),
    )
    one = state.seen[1]
    assert (one.observed, one.answered, one.correct, one.failed) == (4, 3, 1, 1)
    assert one.histograms["e2e"] == Histogram([10.0, 20.0, 40.0])
    # Of the seconds before the ticks; in those between nothing came.
    assert [second.answered for second in state.course.seconds] == [2, 0, 0, 2]
    assert [second.failed for second in state.course.seconds] == [1, 0, 0, 0]


@given(
    gaps=st.lists(st.floats(0.999, 1.02), min_size=2, max_size=40),
    last=st.floats(0.05, 0.99),
    start=st.floats(0, 1),
    rate=st.sampled_from([1, 40, 2000]),
)
@settings(max_examples=30, deadline=None)
def test_a_steady_load_is_shown_as_steady_whenever_its_ticks_come(
    gaps: list[float], last: float, start: float, rate: int
) -> None:
    """Ticks come every 1.001–1.01 s, now and then skip a whole second, and the last is short."""
    course = Course()
    moment = BEGAN + start
    for length in [*gaps, last]:
        course.add(moment, moment + length, Second(answered=rate * length))
        moment += length
    assert [one.answered for one in course.rates()] == pytest.approx(
        [rate] * len(course.seconds), rel=1e-3
    )
    assert sum(one.answered for one in course.seconds) == pytest.approx(
        rate * sum([*gaps, last]), rel=1e-6
    )


def test_ticks_of_a_run_that_skip_a_second_leave_no_gap() -> None:
    """40 answers a second, in ticks that come every 1.01 s, and at the end a part of one."""
    run, rows = run_row(["load"]), [execution()]
    ends = [1.01 * n for n in range(1, 140)]
    ticks = [tick(end, [], answered=40, tokens=400, sent=40) for end in ends]
    ticks.append(tick(ends[-1] + 0.25, [], answered=10, tokens=100, sent=10))
    live = {1: {"in_flight": 3, "waiting": 0}}
    state = LiveState()
    for one in ticks:
        state.take(update(run, rows, at=one["at"] - BEGAN, ticks=[one], live=live))
    lines = {line.label: line.values for line in live_view.courses(state, KEPT_S).lines}
    assert lines["answered"] == pytest.approx([40 / 1.01] * 140 + [40.0], rel=0.02)
    assert lines["tokens"] == pytest.approx([400 / 1.01] * 140 + [400.0], rel=0.02)
    assert lines["in flight"][1:] == [3] * 140


def test_seconds_in_which_nothing_comes_any_more_are_shown_too() -> None:
    run, rows = run_row(["task"]), [execution()]
    state = of(
        update(run, rows, at=1, ticks=[tick(1, [10.0])]),
        update(run, rows, at=6),
    )
    assert [second.answered for second in state.course.seconds] == [1, 0, 0, 0, 0]


def test_a_replay_that_goes_back_begins_anew() -> None:
    run, rows = run_row(["task"]), [execution()]
    state = of(
        update(run, rows, at=9, ticks=[tick(n, [10.0]) for n in range(9)]),
        update(run, rows, at=2, ticks=[tick(1, [10.0])], restarted=True, is_replay=True),
    )
    assert state.seen[1].observed == 1
    assert state.planned["e1"].kind == "task"
    assert live_view.status(state, 0.0).state == "replay"
    assert live_view.status(state, 0.0).elapsed_s == 2


def test_four_hours_of_a_load_take_no_more_memory_than_one() -> None:
    run, rows = run_row(["load"]), [execution()]
    times = [float(n % 97 + 1) for n in range(100)]
    packed = Histogram(times).to_bytes()
    state = LiveState()

    def hour(number: int) -> None:
        for minute in range(60):
            start = 3600 * number + 60 * minute
            ticks = [tick(start + n, [], observed=100, e2e_histogram=packed) for n in range(60)]
            state.take(
                update(
                    run, rows, at=start + 60, ticks=ticks,
                    gauges=[("host", {"cpu_percent": 5.0})] * 60,
                    failures=[failure(start, "server", f"HTTP 500 {n}") for n in range(5)],
                )
            )  # fmt: skip

    hour(0)
    after_one = len(pickle.dumps(state))
    for number in (1, 2, 3):
        hour(number)
    assert state.seen[1].observed == 4 * 3600 * 100
    assert len(state.course.seconds) == KEPT_S
    assert len(pickle.dumps(state)) < 1.05 * after_one


def test_the_end_of_a_task_is_told_by_its_pace_and_not_too_early() -> None:
    run, rows = run_row(["task"]), [execution(planned=100)]
    early = of(update(run, rows, at=2, ticks=[tick(2, [10.0])]))
    assert left_s(early, BEGAN + 2) is None
    ticks = [tick(n, [10.0, 10.0]) for n in range(1, 11)]
    later = of(update(run, rows, at=10, ticks=ticks))
    # 20 answers in the 10 s before the last tick; 80 more.
    assert left_s(later, BEGAN + 10) == pytest.approx(40.0)
    assert share_done(later, rows[0], BEGAN + 10) == pytest.approx(0.2)


def test_the_end_of_a_load_is_told_by_its_clock() -> None:
    run = run_row(["load"], load={"rate": 5, "duration_s": 30.0}, repeats=3)
    rows = [execution()]
    live = {"phase": "window", "began_at": BEGAN + 40, "ends_at": BEGAN + 70, "in_flight": 2}
    over = [{"execution_key": 1, "repeat": 0, "warmup": 0}]
    state = of(update(run, rows, at=50, live={1: live}, iterations=over))
    # 20 s of this window, and one more of 30 s.
    assert left_s(state, BEGAN + 50) == pytest.approx(50.0)
    assert share_done(state, rows[0], BEGAN + 50) == pytest.approx((1 + 1 / 3) / 3)


def test_what_was_stopped_is_as_far_as_it_got() -> None:
    run = run_row(["task", "stress", "stress"], status="interrupted")
    rows = [execution(n, status="interrupted") for n in (1, 2, 3)]
    ticks = [tick(2, [10.0] * 30), tick(2, [10.0] * 30, key=2)]
    state = of(update(run, rows, at=9, ticks=ticks))
    assert [share_done(state, row, BEGAN + 9) for row in rows] == [0.3, 1.0, 0.0]
    assert [row[-1] for row in texts(live_tables.progress(state, BEGAN + 9))] == ["stopped"] * 3


def test_who_has_no_place_has_not_moved() -> None:
    nobody = Standing("late", False)
    found = RunningBoard("accuracy", [nobody])
    row = live_tables.board(found, {"late": 3}, AgentSeries()).rows[0]
    assert isinstance(row.cells[0], Cell)
    assert row.cells[0].change == 0


def test_a_marker_stays_with_its_agent_when_the_order_changes() -> None:
    series = AgentSeries()

    def markers(*order: str) -> dict[str, int | None]:
        found = RunningBoard("accuracy", [Standing(name, simulated=False) for name in order])
        rows = live_tables.board(found, {}, series).rows
        cells = [row.cells[1] for row in rows]
        assert all(isinstance(cell, Cell) for cell in cells)
        return {cell.text: cell.series for cell in cells if isinstance(cell, Cell)}

    first = markers("a", "b", "c")
    assert markers("c", "a", "b") == first
    assert len(set(first.values())) == 3
    assert markers("new", "b") == {"new": 3, "b": first["b"]}


@given(st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=8)))
@settings(deadline=None)
def test_agents_that_are_shown_together_differ(groups: list[list[str]]) -> None:
    series = AgentSeries()
    for group in groups:
        found = series.of(group)
        assert set(found) == set(group)
        assert len(set(found.values())) == len(group)


def test_nothing_is_said_of_the_end_of_a_stress_scenario() -> None:
    state = of(update(run_row(["stress"]), [execution()], at=50, ticks=[tick(3, [1.0] * 50)]))
    assert left_s(state, BEGAN + 50) is None


def test_status_tells_progress_caps_and_the_harness() -> None:
    run = run_row(["task", "task"], cost_limit_usd=2.0, token_limit=1000)
    rows = [execution(1, status="complete"), execution(2)]
    live = {"in_flight": 4, "lag_ms": 1.5, "cost_usd": 0.5, "tokens": 700, "paused": False}
    state = of(update(run, rows, at=9, live={2: live}, ticks=[tick(3, [1.0] * 60)]))
    status = live_view.status(state, BEGAN + 9)
    assert (status.done, status.planned, status.in_flight) == (60, 200, 4)
    assert status.place == (2, 2)
    assert (status.lag_ms, status.cost_usd, status.cap_usd) == (1.5, 0.5, 2.0)
    assert (status.tokens, status.token_cap) == (700, 1000)
    assert status.state == "running"
    state.take(update(run, rows, at=10, live={2: live | {"paused": True}}))
    assert live_view.status(state, BEGAN + 10).state == "paused"
    state.interrupted = True
    assert live_view.status(state, BEGAN + 10).state == "interrupted"


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["load"], (500, "output tokens")),
        (["task"], (500, "tokens")),
        (["task", "load"], (None, "output tokens")),  # they are not the same quantity
    ],
)
def test_tokens_are_one_quantity_during_a_run_and_after_it(
    kinds: list[str], words: tuple[int | None, str]
) -> None:
    """A budget counts input tokens as well, ticks of a load output tokens alone."""
    rows = [execution(number + 1) for number in range(len(kinds))]
    live = {"in_flight": 1, "tokens": 700}
    ticks = [tick(3, [1.0], tokens=500)]
    running = of(update(run_row(kinds), rows, at=4, live={1: live}, ticks=ticks))
    status = live_view.status(running, BEGAN + 4)
    assert (status.tokens, status.tokens_are) == words
    ended = of(update(run_row(kinds, status="complete"), rows, at=4, ticks=ticks))
    status = live_view.status(ended, BEGAN + 9)
    assert (status.tokens, status.tokens_are) == words


def test_failures_are_in_the_status_and_retries_are_none() -> None:
    run, rows = run_row(["task"]), [execution()]
    failures = [
        failure(1, "rate_limited", "HTTP 429", stage="retry"),
        failure(1, "server", "HTTP 500", stage="warmup"),
        failure(2, "connection", "refused"),
    ]
    ticks = [tick(2, [10.0], observed=4)]
    state = of(update(run, rows, at=3, failures=failures, ticks=ticks))
    assert dict(state.kinds) == {"connection": 1}
    status = live_view.status(state, BEGAN + 3)
    assert (status.failed, status.done) == (3, 4)
    line = text_of(paint_status(status, 120, 1, palette(DARK), UNICODE))
    assert "3 failed (75.0%)" in line[0]
    done = live_tables.progress(state, BEGAN + 3).rows[0].cells[2]
    assert isinstance(done, Cell)
    assert done.role == "bad"  # a long bar that is no success


def test_a_run_whose_process_is_gone_lasted_until_it_last_told_something() -> None:
    run, rows = run_row(["task"]), [execution()]
    left_behind = {1: {"execution_key": 1, "state": "{}", "updated_at": BEGAN + 42.5}}
    found = update(run, rows, at=86_400, ticks=[tick(40, [1.0] * 3)])
    found.live = left_behind
    state = of(found)
    assert [second.answered for second in state.course.seconds] == [3, 0, 0]  # 39, 40, 41
    state.interrupted = True
    assert live_view.status(state, BEGAN + 86_400).elapsed_s == 42.5
    state.live = {}
    assert live_view.status(state, BEGAN + 86_400).elapsed_s == 40


def test_latencies_can_be_switched_and_say_why_there_are_none() -> None:
    run, rows = run_row(["load"]), [execution()]
    queued = Histogram([5.0]).to_bytes()
    state = of(update(run, rows, at=3, ticks=[tick(1, [50.0] * 60, queue_histogram=queued)]))
    row = rows[0]
    before = Reference("run before", {"e2e_histogram": Histogram([40.0])})
    shown = live_view.latency(state, row, "e2e", True, before)
    assert [mark.name for mark in shown.percentiles] == ["p50", "p95"]
    assert sum(count for *_, count in shown.baseline) == 1
    assert live_view.percentiles_words(state, row, "e2e") == "p99 needs 299 values"
    queue = live_view.latency(state, row, "queue", True, before)
    assert sum(count for *_, count in queue.buckets) == 1
    assert not queue.baseline
    none = live_view.latency(state, row, "itl", True, before)
    assert not none.buckets
    assert "loads that stream" in none.reason


def test_failures_wishes_and_marks_are_one_log_in_order() -> None:
    run, rows = run_row(["task"]), [execution()]
    wishes = [
        wish(1, 2.0, "pause", None, "paused"),
        wish(2, 3.0, "mark", "before the deploy", "marked: before the deploy"),
        wish(3, 6.0, "concurrency", "9", "refused: the agent has 4 places"),
    ]
    failures = [failure(n, "rate_limited", "HTTP 429") for n in (4.0, 4.5, 5.0)]
    state = of(update(run, rows, at=8, failures=failures, wishes=wishes))
    lines = live_view.log_lines(state, 10).lines
    assert [(line.since_s, line.role, line.count) for line in lines] == [
        (2.0, "dim", 1),
        (3.0, "accent", 1),
        (5.0, "bad", 3),
        (6.0, "warn", 1),
    ]
    assert lines[2].text == "agent1: rate limited: HTTP 429"
    assert "refused" in lines[3].text


def test_what_is_in_flight_stays_told_until_it_is_told_again() -> None:
    state = of(
        update(run_row(["load"]), [execution()], at=2, ticks=[tick(1, [1.0]), tick(2, [1.0])])
    )
    first, second = list(state.course.seconds)[-2:]
    first.in_flight, second.in_flight = 4, None
    told = {line.label: line.values for line in live_view.courses(state, 100).lines}
    assert told["in flight"][-2:] == [4, 4]
    state.run["status"] = "complete"
    told = {line.label: line.values for line in live_view.courses(state, 100).lines}
    assert told["in flight"][-2:] == [4, None]


def test_marks_stand_below_their_second() -> None:
    run, rows = run_row(["task"]), [execution()]
    ticks = [tick(n, [1.0]) for n in range(1, 11)]
    marks = [wish(1, 5.5, "mark", "here", "marked: here")]
    time_series = live_view.courses(of(update(run, rows, at=10, ticks=ticks, wishes=marks)), 100)
    (back, note), answered = time_series.marks[0], time_series.lines[0].values
    assert note == "here"
    assert len(answered) == 10
    # The places are the seconds 0 to 9 of the run; the mark lies in the fifth.
    assert len(answered) - 1 - back == 5


def test_failures_of_one_kind_of_a_load_are_all_of_them_and_of_several_at_least_so_many() -> None:
    run, rows = run_row(["load"]), [execution()]
    state = of(
        update(run, rows, at=3, ticks=[tick(1, [], observed=40, sent=40, failed=40)],
               failures=[failure(1, "server", "x")])
    )  # fmt: skip
    (only,) = live_view.failures(state).rows
    assert isinstance(only, Gauge)
    assert (only.value, only.note) == (40.0, "")
    state.take(update(run, rows, at=4, failures=[failure(2, "timeout", "x")]))
    assert all(
        isinstance(row, Gauge) and row.note == "or more" for row in live_view.failures(state).rows
    )


def test_failures_of_the_warm_up_are_in_the_log_alone() -> None:
    run, rows = run_row(["task"]), [execution()]
    warm = failure(1, "agent", "x", stage="warmup")
    state = of(update(run, rows, at=2, failures=[warm, failure(2, "agent", "y")]))
    (only,) = live_view.failures(state).rows
    assert isinstance(only, Gauge)
    assert only.value == 1.0
    assert len(live_view.log_lines(state, 9).lines) == 2


def test_gauges_tell_of_host_agents_and_gpus_or_why_not() -> None:
    run, rows = run_row(["task"]), [execution()]
    host = {"cpu_percent": 40.0, "core_percent": [10.0, 70.0], "memory_used_mb": 1.0,
            "memory_total_mb": 4.0}  # fmt: skip
    agent = {"cpu_percent": 120.0, "rss_mb": 200.0, "processes": 3}
    state = of(update(run, rows, at=1, gauges=[("host", host), ("agent:a", agent)]))
    labels = [row.label for row in machine(state).rows]
    assert labels == ["CPU", "cores", "memory", "a", "GPU"]
    assert getattr(machine(state).rows[3], "note", "") == "200 MB, 3 processes"
    gpu = {"utilisation_percent": 97.0, "power_w": 690.0, "power_limit_w": 700.0,
           "throttle_reasons": ["power cap"]}  # fmt: skip
    state.take(update(run, rows, at=2, gauges=[("gpu:0", gpu)]))
    line = GpuLine("0", 97.0, power_w=690.0, power_limit_w=700.0, held_by=("power cap",))
    assert machine(state).rows[4:] == [line]  # what the driver does not report is unknown


def test_gpus_stand_by_their_numbers_with_slices_and_processes_below() -> None:
    run, rows = run_row(["task"]), [execution()]
    readings: list[tuple[str, dict[str, Any]]] = [
        ("gpu:10", {"sm_clock_mhz": 1410.0, "processes": [{"pid": 7, "memory_mb": 9.0}]}),
        ("gpu:2", {"memory_used_mb": 1.0}),
        ("gpu:2.0", {"memory_used_mb": 0.5}),
    ]
    state = of(update(run, rows, at=1, gauges=readings))
    lines = [one for one in machine(state).rows if isinstance(one, GpuLine)]
    assert [(one.number, one.is_slice, one.processes) for one in lines] == [
        ("2", False, ()), ("2.0", True, ()), ("10", False, ()),
    ]  # fmt: skip
    *_, last = machine(state, with_processes=True).rows
    assert getattr(last, "processes", None) == (GpuProcessLine(7, 9.0),)


def test_a_case_that_takes_much_longer_than_others_is_stalled() -> None:
    run, rows = run_row(["task"]), [execution()]
    live = {"oldest": [{"case_id": "slow", "age_s": 9.0}, {"case_id": "new", "age_s": 0.1}]}
    state = of(update(run, rows, at=10, ticks=[tick(1, [100.0] * 60)], live={1: live}))
    answers = [
        SlowAnswer(900.0, 3, 1, "was", ""),
        SlowAnswer(800.0, 4, 1, "failed", "rate_limited"),
    ]
    table = live_tables.slow(state, answers, BEGAN + 12)
    # In the panel of a screen of 120 columns, without the gutter and the scroll bar.
    named = [table.columns[number].key for number, _ in fitting(table.columns, 38)]
    assert named == ["case", "agent", "time", "state"]
    shown = texts(table)
    # As reported two seconds ago: they may have been answered since.
    assert [row[0::2] for row in shown] == [
        ["slow", "9.00 s"], ["new", "100 ms"], ["was", "900 ms"], ["failed", "800 ms"],
    ]  # fmt: skip
    assert [row[3] for row in shown] == ["stalled", "in flight", "answered", "rate limited"]


def test_a_case_waits_while_its_server_asked_for_it() -> None:
    run, rows = run_row(["task"]), [execution()]
    live = {"oldest": [{"case_id": "c", "age_s": 1.0}], "pause_s": 30.0, "in_flight": 0}

    def doing(after_s: float, **changes: float) -> str:
        state = of(update(run, rows, at=10, live={1: live | changes}))
        return texts(live_tables.slow(state, [], BEGAN + 10 + after_s))[0][3]

    assert doing(0) == "waits 0:30"
    assert doing(5) == "waits 0:25"
    assert doing(31) == "in flight"
    assert doing(0, in_flight=1) == "in flight"


def test_progress_shows_each_execution() -> None:
    run = run_row(["task", "task"])
    rows = [execution(1, status="complete"), execution(2)]
    ticks = [tick(1, [10.0] * 50, observed=60, correct=30), tick(2, [10.0] * 40)]
    state = of(update(run, rows, at=5, ticks=ticks))
    first, second = texts(live_tables.progress(state, BEGAN + 5))
    assert first == ["b0", "agent1", "100/100", "30.0%", "10.0 ms", "10.0 ms", "10", "done"]
    assert second[2:] == ["0/100", "–", "–", "–", "0", "–"]


def test_points_of_a_sweep_are_told_apart() -> None:
    row = execution(parameters='{"rate":20}')
    assert live_tables.where_words(row) == "b0 rate=20"
    assert live_tables.where_words(execution(parameters="")) == "b0"


def test_asked_and_sent_of_a_load_stand_beside_each_other() -> None:
    run, rows = run_row(["load"]), [execution()]
    live = {"phase": "window", "began_at": BEGAN, "ends_at": BEGAN + 30, "asked_per_s": 500.0,
            "sent_per_s": 400.0, "in_flight": 64, "waiting": 12, "pace": 1.25,
            "repeat": 0}  # fmt: skip
    state = of(update(run, rows, at=12, live={1: live}))
    facts = {
        one.label: one for one in live_tables.load_facts(state, rows[0], BEGAN + 12, None).facts
    }
    assert facts["phase"].words == "window, 0:12 of 0:30"
    assert facts["offered"].words == "500/s (the plan × 1.25)"
    assert facts["sent"].role == "warn"
    assert facts["in flight"].words == "64, 12 wait for a place"
    assert "silence" not in facts
    state = of(update(run, rows, at=12, live={1: live | {"silent_s": 8.2}}))
    told = live_tables.load_facts(state, rows[0], BEGAN + 12, None).facts[-1]
    opening = "they are opening 64 requests, and the connections they need"
    assert told == Fact("silence", f"no word for 8 s from the senders: {opening}", "warn")


def test_who_gained_or_lost_places_has_an_arrow() -> None:
    standings = [
        Standing("b", False, "1", 0.9, 0.8, 0.95),
        Standing("a", False, "2", 0.7, 0.6, 0.8),
    ]
    board = live_tables.board(RunningBoard("accuracy", standings), {"a": 0, "b": 1}, AgentSeries())
    changes = [
        cell.change for row in board.rows for cell in row.cells[:1] if isinstance(cell, Cell)
    ]
    assert changes == [1, -1]
    assert texts(board)[0][:4] == ["1", "b", "0.900", "0.800 – 0.950"]


def test_what_has_not_begun_is_told_by_the_same_benchmark_else_by_the_pace_of_all() -> None:
    run = run_row(["task", "task", "task"])
    rows = [
        execution(1, status="complete", planned=20),
        execution(2, benchmark_id="b0", planned=30, status="planned"),
        execution(3, planned=10, status="planned"),
    ]
    ticks = [tick(n, [10.0, 10.0]) for n in range(1, 11)]
    state = of(update(run, rows, at=10, ticks=ticks))
    # 20 answers in 10 s: half a second each, of either.
    assert left_s(state, BEGAN + 10) == pytest.approx(15.0 + 5.0)


def test_tasks_that_take_turns_end_together() -> None:
    run = run_row(["task", "task"])
    rows = [execution(1, planned=30), execution(2, planned=30)]
    ticks = [tick(n, [10.0], key=key) for n in range(1, 11) for key in (1, 2)]
    # Two answers a second in all, of 60: 40 more take 20 s, not twice that.
    assert left_s(of(update(run, rows, at=10, ticks=ticks)), BEGAN + 10) == pytest.approx(20.0)


def test_latency_of_a_load_over_time_is_that_of_its_last_ten_seconds() -> None:
    """Thirty answers of 100 ms in each second, from the fourth on of 200 ms: the median follows as
    soon as more of the last ten seconds are slow; 30 answers are too few for a p95."""
    run, rows = run_row(["load"]), [execution()]
    ticks = [tick(n, [100.0 if n < 4 else 200.0] * 30, sent=30) for n in range(1, 21)]
    lines = {line.label: line for line in live_view.courses(
        of(update(run, rows, at=20, ticks=ticks, is_replay=True)), 20).lines}  # fmt: skip
    assert not any(label.startswith("TTFT") for label in lines)  # nothing was streamed
    median, p95 = lines["E2E p50"].values, lines["E2E p95"].values
    assert lines["E2E p50"].unit == "ms"
    assert [round(value or 0, -1) for value in median] == [100] * 6 + [200] * 14
    assert [None if value is None else round(value, -1) for value in p95] == [
        None, *[100] * 2, *[200] * 17,
    ]  # fmt: skip


def test_a_task_has_no_latency_over_time() -> None:
    run, rows = run_row(["task"]), [execution()]
    state = of(update(run, rows, at=2, ticks=[tick(1, [100.0] * 60)]))
    assert not any("p" in line.label for line in live_view.courses(state, 20).lines[2:])
