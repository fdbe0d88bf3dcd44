"""The live view of load: rates and times, on a screen and in one line."""

import json
import math
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.viewer import Update
from agentbench_tui.tui.pages.live.load_picture import blocks
from agentbench_tui.tui.pages.live.run_picture import RunPicture
from agentbench_tui.tui.pages.live.warming_up import warming_up_now

BLOCK = {"rate": 50.0, "arrivals": "poisson", "duration_s": 30.0}


def plan(*kinds: str) -> str:
    return json.dumps(
        {
            "groups": [
                {"benchmark": {"kind": kind, "load": BLOCK}, "executions": [{"id": f"e{number}"}]}
                for number, kind in enumerate(kinds)
            ]
        }
    )


def row(number: int, status: str = "running", **parameters: Any) -> dict[str, Any]:
    return {
        "id": f"e{number}",
        "key": number,
        "benchmark_id": "load",
        "agent_id": "m",
        "parameters": json.dumps(parameters),
        "simulated": 0,
        "status": status,
        "planned": 10,
    }


def tick(number: int, at: float, e2e: list[float], ttft: list[float], **counts: int) -> Any:
    return {
        "execution_key": number,
        "repeat": 0,
        "at": at,
        "observed": len(e2e),
        "answered": len(e2e),
        "correct": 0,
        "cost_usd": 0.0,
        "e2e_histogram": Histogram(e2e).to_bytes(),
        "ttft_histogram": Histogram(ttft).to_bytes() if ttft else None,
        "sent": 0,
        "failed": 0,
        "tokens": 0,
        **counts,
    }


def update(
    kinds: list[str],
    rows: list[Any],
    ticks: list[Any],
    state: Any = None,
    failures: tuple[Any, ...] = (),
) -> Update:
    live = {
        one["key"]: {"state": json.dumps(state or {"in_flight": 0})}
        for one in rows
        if one["status"] == "running"
    }
    command = "agentbench load openai:http://127.0.0.1#m"
    run = {"id": "r", "status": "running", "plan": plan(*kinds), "command": command}
    return Update(run, rows, live, {"ticks": ticks, "failures": [*failures], "gauges": []})


def drawn(picture: RunPicture, seen: Update, width: int = 140) -> list[str]:
    console = Console(width=width, color_system=None, record=True, quiet=False)
    with console.capture() as captured:
        console.print(picture.draw(seen))
    return [line.rstrip() for line in captured.get().splitlines()]


def one_load() -> tuple[RunPicture, Update]:
    state = {
        "asked_per_s": 50.0,
        "sent_per_s": 49.6,
        "tokens_per_s": 200.0,
        "in_flight": 12,
        "waiting": 3,
        "oldest_s": 2.4,
    }
    ticks = [
        tick(0, 100.0, [100.0] * 40, [50.0] * 40, sent=50, tokens=400),
        tick(0, 101.0, [100.0] * 30, [50.0] * 30, sent=40, tokens=300, failed=2),
        tick(0, 102.0, [400.0] * 10, [50.0] * 10, sent=60, tokens=100),
    ]
    seen = update(["load"], [row(0, rate=50)], ticks, state)
    picture = RunPicture()
    picture.take(seen)
    return picture, seen


def test_a_load_is_told_in_one_line() -> None:
    picture, seen = one_load()
    # A live histogram is right within 0.5%.
    assert picture.progress(seen) == (
        "load m rate=50: offered 50/s, sent 150 (49.6/s), 200 tokens/s, 12 in flight,"
        " 3 waiting for a place, the oldest for 2 s, 2 failed, e2e p50 99.7 ms  p95 401 ms  p99 –"
    )


def test_a_load_is_drawn_with_its_schedule_and_how_times_are_distributed() -> None:
    picture, seen = one_load()
    head, rates, counts, e2e, shape, ttft, _, run = drawn(picture, seen)
    assert head == "load m rate=50 · open loop, 50/s poisson, 30 s"
    assert rates == "30 s of 30 s · offered 50/s · sent 150 (49.6/s) · 200 tokens/s"
    assert counts == "12 in flight · 3 waiting for a place · the oldest for 2 s · 2 failed"
    assert e2e == "e2e  p50 99.7 ms  p95 401 ms  p99 –, how many took how long:"
    assert shape.count("█") == 1  # most answers took 100 ms,
    assert shape.count("▂") == 1  # an eighth of them 400
    assert ttft.startswith("ttft p50 5")
    assert run.endswith("run r: running")


def test_a_later_repeat_says_so() -> None:
    picture, seen = one_load()
    seen.live[0]["state"] = json.dumps({"in_flight": 1, "repeat": 1})
    assert drawn(picture, seen)[1].startswith("repeat 2 · ")


def test_senders_that_tell_nothing_are_told_of() -> None:
    """As where thousands of users begin at once: the figures are as old as their last word."""
    state = {"in_flight": 19_000, "silent_s": 8.2}
    seen = update(["load"], [row(0)], [tick(0, 1.0, [], [], sent=19_000)], state)
    picture = RunPicture()
    picture.take(seen)
    silent = "no word for 8 s from the senders"
    opening = ": they are opening 19,000 requests, and the connections they need"
    told = f"load m: sent 19,000, 19,000 in flight, {silent}{opening}, 0 failed"
    assert picture.progress(seen) == f"{told}, nothing answered yet"
    assert f"{silent}{opening}" in drawn(picture, seen)[2]
    picture.take(update(["load"], [row(0)], [tick(0, 9.0, [5.0], [])]))
    assert f"{silent}, 0 failed" in picture.progress(seen)
    seen.live[0]["state"] = json.dumps({"in_flight": 19_000, "silent_s": 1.9})
    assert "no word" not in picture.progress(seen)


def test_rates_that_are_not_known_are_left_out_and_time_stands_still_after_the_window() -> None:
    state = {"repeat": 0, "in_flight": 7, "phase": "draining", "began_at": 100.0, "ends_at": 102.0}
    state |= {"asked_per_s": None, "sent_per_s": None, "tokens_per_s": None}
    seen = update(["load"], [row(0)], [tick(0, 103.5, [100.0], [], sent=100, tokens=900)], state)
    picture = RunPicture()
    picture.take(seen)
    assert picture.progress(seen).startswith("load m: draining, sent 100, 7 in flight")
    assert drawn(picture, seen)[1] == "2 s of 30 s · draining · sent 100"


def test_the_execution_under_load_is_shown_and_not_one_that_waits() -> None:
    rows = [row(0), row(1)]
    seen = update(["load", "load"], rows, [])
    seen.live[0]["state"] = json.dumps({"in_flight": 3, "phase": "window"})
    seen.live[1]["state"] = json.dumps({"in_flight": 0, "phase": "waiting"})
    picture = RunPicture()
    picture.take(seen)
    assert "3 in flight" in picture.progress(seen)
    assert "waiting" not in "".join(drawn(picture, seen))


def test_failures_are_told_by_kind_and_the_same_line_once() -> None:
    def failure(kind: str, detail: str) -> dict[str, Any]:
        return {"execution_key": 0, "stage": "answer", "kind": kind, "detail": detail}

    failures = [failure("server", "HTTP 500")] * 3 + [failure("timeout", "no answer within 1 s")]
    seen = update(["load"], [row(0)], [tick(0, 1.0, [], [], sent=4, failed=4)], None, (*failures,))
    picture = RunPicture()
    picture.take(seen)
    assert "4 failed (server, timeout)" in picture.progress(seen)
    lines = drawn(picture, seen)
    assert [line for line in lines if "answer: " in line] == [
        "m load answer: server: HTTP 500",
        "m load answer: timeout: no answer within 1 s",
    ]


def test_nothing_is_broken_over_two_lines_at_80_by_24() -> None:
    _, seen = one_load()
    detail = "a long detail of a failure, " * 5
    said = {"execution_key": 0, "stage": "answer", "kind": "server", "detail": detail}
    seen.new["failures"] = [said]
    seen.new["gauges"] = [
        {
            "scope": "host",
            "reading": json.dumps(
                {"cpu_percent": 99.0, "memory_used_mb": 99_000.0, "memory_total_mb": 128_000.0}
            ),
        }
    ]
    seen.run["id"] = "01a2217d-62e8-78f6-9d79-6334356aceb5"
    picture = RunPicture("Ctrl-C: finish what is in flight and stop")
    picture.take(seen)
    wide, narrow = drawn(picture, seen), drawn(picture, seen, 80)
    assert len(narrow) == len(wide) <= 24


def test_a_sweep_has_a_line_a_point_and_the_running_one_in_full() -> None:
    picture = RunPicture()
    rows = [row(0, "complete", rate=5), row(1, rate=10), row(2, "planned", rate=20)]
    seen = update(["load"] * 3, rows, [tick(0, 1.0, [10.0], [], sent=1)])
    picture.take(seen)
    lines = drawn(picture, seen)
    assert [line.split()[2] for line in lines[1:4]] == ["rate=5", "rate=10", "rate=20"]
    assert lines[1].split()[3:] == ["1", "0", "10.0", "ms", "–", "–", "complete"]
    assert [line for line in lines if "open loop" in line] == [
        "load m rate=10 · open loop, 50/s poisson, 30 s"
    ]


def test_tasks_keep_their_table_beside_loads() -> None:
    picture = RunPicture()
    seen = update(["task", "load"], [row(0), row(1, "planned")], [tick(0, 1.0, [5.0], [])])
    picture.take(seen)
    lines = drawn(picture, seen)
    assert "1/10" in lines[1]
    assert picture.progress(seen) == "1 of 10 asked, 1 answered, 0 right"


def test_how_much_stress_will_ask_is_not_said() -> None:
    picture = RunPicture()
    rows = [row(0), row(1)]  # of stress as planned stands what windows have asked that are over
    asked = [tick(0, 1.0, [5.0], []), tick(1, 1.0, [5.0] * 12, [], answered=11)]
    seen = update(["task", "stress"], rows, asked)
    picture.take(seen)
    told = "1 of 10 asked, 1 answered, 0 right; stress: 12 asked, 11 answered"
    assert picture.progress(seen) == told
    assert [line.split()[3] for line in drawn(picture, seen)[1:3]] == ["1/10", "12"]
    silent = "m load: no word for 4 s from the senders"
    seen.live[1] = {"state": json.dumps({"in_flight": 900, "silent_s": 4.0})}
    assert picture.progress(seen) == f"{told}; {silent}"
    assert drawn(picture, seen)[3] == silent


def test_nothing_answered_yet_is_no_number() -> None:
    picture = RunPicture()
    seen = update(["load"], [row(0)], [])
    picture.take(seen)
    assert picture.progress(seen) == "load m: sent 0, 0 in flight, 0 failed, nothing answered yet"


@pytest.mark.parametrize(
    ("benchmark", "told"),
    [
        ({}, "warming up: waiting for the first answer (limit 300 s; --warmup 0 to skip)"),
        (
            {"constraints": {"time_limit_ms": 2500}},
            "warming up: waiting for the first answer (limit 2.5 s; --warmup 0 to skip)",
        ),
        ({"load": BLOCK | {"warmup_requests": 0}}, ""),
    ],
)
def test_a_load_that_waits_for_its_warm_up_says_so(benchmark: dict[str, Any], told: str) -> None:
    seen = update(["load"], [row(0)], [], {"in_flight": 0, "phase": "starting"})
    whole = {"kind": "load", "load": BLOCK, **benchmark}
    groups = [{"benchmark": whole, "executions": [{"id": "e0"}]}]
    seen.run["plan"] = json.dumps({"groups": groups})
    picture = RunPicture()
    picture.take(seen)
    if told:
        assert picture.progress(seen) == f"load m: {told}"
        assert drawn(picture, seen)[1] == told
    else:
        assert picture.progress(seen).startswith("load m: starting, sent 0")
    seen.live[0]["state"] = json.dumps({"in_flight": 1, "phase": "window"})
    assert "warming up" not in picture.progress(seen)


def test_in_a_suite_it_is_a_key_that_leaves_the_warm_up_out() -> None:
    seen = update(["load"], [row(0)], [], {"in_flight": 0, "phase": "starting"})
    seen.run["command"] = "agentbench run suite.yaml"
    picture = RunPicture()
    picture.take(seen)
    said = "(limit 300 s; `warmup_requests: 0` in its `load` to skip)"
    assert picture.progress(seen) == f"load m: warming up: waiting for the first answer {said}"


@pytest.mark.parametrize(
    ("buckets", "width", "line"),
    [
        ([(1.0, 1.0, 5)], 1, "█"),
        ([(0.0, 1.0, 8), (3.0, 4.0, 4)], 4, "█  ▄"),
        ([(0.0, 1.0, 1000), (9.0, 10.0, 1)], 2, "█▁"),
        ([(0.0, 2.0, 8), (2.0, 4.0, 4)], 4, "██▄▄"),
    ],
)
def test_counts_as_blocks(buckets: list[tuple[float, float, int]], width: int, line: str) -> None:
    assert blocks(buckets, width) == line


@given(st.lists(st.floats(0.001, 1e6), min_size=1), st.integers(1, 80))
def test_a_line_of_blocks_is_as_wide_as_asked_and_hides_nothing(
    values: list[float], width: int
) -> None:
    buckets = Histogram(values).buckets()
    line = blocks(buckets, width)
    assert len(line) == width
    assert "█" in line
    low, high = buckets[0][0], buckets[-1][1]
    for place, one in enumerate(line):
        middle = low + (place + 0.5) * (high - low) / width
        if any(start < middle < end for start, end, _ in buckets):
            assert one != " "


def test_repeats_that_are_over_say_how_many_more_a_precise_median_takes() -> None:
    picture, rows = RunPicture(), [row(0)]
    medians = [100.0, 120.0, 90.0, 110.0, 500.0]
    ticks = [
        tick(0, float(number), [median] * 9, [], repeat=number)
        for number, median in enumerate(medians)
    ]
    few = update(["load"], rows, ticks[:3])
    picture.take(few)
    assert "half-width" not in picture.progress(few)  # the third still goes on
    more = update(["load"], rows, ticks[3:])
    picture.take(more)
    said = re.search(r"; half-width now ([\d.]+)%, 5% needs (\d+) more$", picture.progress(more))
    assert said is not None
    # t(3) 3.182 × sd of the logs 0.1238 / √4, within what the buckets leave open
    assert float(said[1]) == pytest.approx(100 * math.sinh(0.1970), rel=0.03)
    assert f"e2e p50: {said[0][2:]}" in drawn(picture, more)


def test_tasks_tell_what_the_run_says_of_its_precision() -> None:
    picture = RunPicture()
    said = {"in_flight": 1, "outlook": "half-width now 3.1%, 2% needs 24 more"}
    seen = update(["task", "task"], [row(0), row(1, "complete")], [], said)
    picture.take(seen)
    line = "m load: half-width now 3.1%, 2% needs 24 more"
    assert picture.progress(seen).endswith(f"; {line}")
    assert line in drawn(picture, seen)


def test_what_waits_for_its_warm_up_is_found_in_the_store() -> None:
    with closing(sqlite3.connect(":memory:")) as store:
        store.executescript(
            "CREATE TABLE runs (key, id, command); CREATE TABLE live (execution_key, state);"
            "CREATE TABLE benchmark_executions (key, run_key, id, agent_id);"
            "INSERT INTO runs VALUES (1, 'r', NULL);"
            "INSERT INTO benchmark_executions VALUES (7, 1, 'e0', 'm'), (8, 1, 'e1', 'n');"
            """INSERT INTO live VALUES (7, '{"phase": "waiting"}'), (8, '{"phase": "starting"}');"""
        )
        benchmarks = {key: {"load": BLOCK} for key in ("e0", "e1")}
        assert warming_up_now(store, "r", benchmarks).startswith("n: warming up: waiting")
        assert warming_up_now(store, "another", benchmarks) == ""
        store.execute("""UPDATE live SET state='{"phase": "window"}'""")
        assert warming_up_now(store, "r", benchmarks) == ""
