"""What a person sees of load: verdict and rates first, no percentile that is not supported."""

import csv
import io
import json
import re
from typing import Any

import msgspec
import pytest
import run_documents
from msgspec import UNSET
from run_documents import as_printed

from agentbench_tui.cli.console.reports import print_sections
from agentbench_tui.cli.load.result import print_load_run
from agentbench_tui.cli.run.result import print_run
from agentbench_tui.contracts.load import (
    MetricRepeats,
    RepeatSpread,
)
from agentbench_tui.contracts.run import CaseCounts, ExecutionResult
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.load.report import load_sections
from agentbench_tui.presentation.load.sentences import (
    headline,
    load_notes,
    measured_load,
    rate_lines,
    repeats_line,
    slo_lines,
)
from agentbench_tui.presentation.report import Row
from agentbench_tui.verdicts.explanation import explain_words
from agentbench_tui.verdicts.load.load_sweep import within_slo

TIMES = ("ttft_ms", "ttft_from_send_ms", "ttfo_ms", "itl_ms", "icl_ms", "send_lag_ms", "queue_ms")


def times(n: int, needs: dict[str, int], **parts: float | None) -> dict[str, Any]:
    known = {"mean": 361.0, "p50": 360.0, "p90": 380.0, "p95": 402.0, "p99": 511.0, "max": 600.0}
    unknown = dict.fromkeys(needs)
    return {**known, "p999": None, **unknown, **parts, "n": n, "needs": needs}


REASON = "a sender's loop was late by 3.10 ms (p99, limit 1.00 ms)"
WARNING = "offered 50.0/s, sent 38.6/s (77%): the server was the limit"
REQUESTS: dict[str, Any] = {
    "asked_per_s": 50.0,
    "sent_per_s": 38.6,
    "sent": 200,
    "ok": 193,
    "failed": {"timeout": 5, "server": 2},
    "cancelled": 0,
    "unfinished": 0,
    "unsent": 0,
    "unanswered": 7,
    "connections": 10,
}
METRICS: dict[str, Any] = {
    "e2e_ms": times(193, {"p99": 299, "p999": 2995}),
    "e2e_from_send_ms": times(193, {"p99": 299, "p999": 2995}, p95=120.0),
    "ttft_ms": {"n": 0, "reason": "not streamed"},
    "tpot_ms": times(193, {"p99": 299, "p999": 2995}) | {"estimated": True},
    "request_throughput_per_s": 37.9,
    "output_tokens_per_s": 1213.4,
    "goodput_per_s": 30.0,
    "goodput_share": 0.6,
}
HARNESS = {"overhead_p50_ms": 0.11, "overhead_p99_ms": 0.4, "cpu_us_per_request": 812.0}


def execution(**load: Any) -> ExecutionResult:
    """An execution of a run document with a load, as `verdicts.load.load_document` gives it."""
    document = {
        "run_id": "r",
        "verdict": "noisy",
        "reasons": [REASON],
        "limit": "server",
        "warnings": [WARNING],
        "requests": REQUESTS,
        "metrics": METRICS,
        "harness": HARNESS,
        "is_open": True,
        "tokens_estimated": True,
        "slo": {"ttft_ms": 200.0},
        "repeats": 1,
    } | load
    return run_documents.execution(
        "m",
        "load",
        suite_id="load",
        kind="load",
        cases=CaseCounts(total=None, observed=200, answered=193, correct=0),
        load=run_documents.load(**document),
    )


def changed(one: ExecutionResult, **changes: Any) -> ExecutionResult:
    return msgspec.structs.replace(one, **changes)


def at(rate: float, **load: Any) -> ExecutionResult:
    return changed(execution(**load), parameters={"rate": rate})


def without_load(one: ExecutionResult, **changes: Any) -> ExecutionResult:
    nothing = CaseCounts(total=None, observed=0, answered=0, correct=0)
    return changed(one, load=UNSET, cases=nothing, **changes)


def run_of(*executions: ExecutionResult) -> dict[str, Any]:
    run = run_documents.run(
        *executions, run_id="r", harness="noisy", leaderboard=(run_documents.entry("m"),)
    )
    return as_printed(run)


def load_of(one: ExecutionResult) -> Any:
    """The load of an execution as JSON has it."""
    return json.loads(msgspec.json.encode(one.load))


def rows_of(one: ExecutionResult) -> list[Row]:
    """The rows of its table of times."""
    (section,) = load_sections([one], in_full=True)
    return [*section.tables[0].rows]


def print_load(one: ExecutionResult, form: str) -> None:
    print_sections(load_sections([one], in_full=True), form)


def print_loads(loads: list[ExecutionResult], form: str) -> None:
    print_sections(load_sections(loads, in_full=False), form)


def test_the_verdict_stands_before_every_number() -> None:
    assert headline(execution()) == (
        "m: noisy · offered 50/s, sent 38.6/s · 193 of 200 answered, 7 failed"
        " · the server was the limit"
    )


def test_what_was_not_answered_is_told_first_though_nothing_failed() -> None:
    counts = {"failed": {}, "ok": 10, "sent": 20, "unfinished": 8, "cancelled": 2, "unsent": 5}
    said = headline(execution(requests=REQUESTS | counts))
    told = "10 of 20 answered, 8 unfinished, 2 canceled as planned, 5 never sent"
    assert said.split(" · ")[2] == told


def test_in_the_place_of_rates_that_are_not_known_stands_why() -> None:
    lacking = ("request_throughput_per_s", "output_tokens_per_s", "output_tokens_per_s_per_user")
    metrics = METRICS | dict.fromkeys(lacking)
    reasons = dict.fromkeys(lacking, "nothing answered") | {lacking[0]: "too short"}
    lines = rate_lines(measured_load(execution(metrics=metrics, unmeasured=reasons)))
    assert lines[1] == (
        "goodput 30/s · completed –/s (too short)"
        " · – output tokens/s, – tokens/s per user (nothing answered)"
        " · 60.0% of what was due kept ttft_ms 200"
        " (SLO: at least 99%: missed)"
    )


def test_limits_on_what_no_answer_has_are_told_instead_of_goodput() -> None:
    metrics = METRICS | {"goodput_per_s": None, "goodput_share": None}
    reasons = dict.fromkeys(("goodput_per_s", "goodput_share"), "no answer has ttft_ms")
    lines = rate_lines(measured_load(execution(metrics=metrics, unmeasured=reasons)))
    assert lines[1].endswith(" · goodput –/s (no answer has ttft_ms)")
    without = rate_lines(measured_load(execution(metrics=metrics, unmeasured=reasons, slo={})))
    assert "goodput" not in " ".join(without)


def test_a_closed_loop_is_asked_for_no_rate() -> None:
    requests = REQUESTS | {"asked_per_s": None, "failed": {}, "ok": 200}
    said = headline(execution(verdict="clean", limit="none", requests=requests))
    assert said == "m: clean · sent 38.6/s · 200 of 200 answered"
    fast = headline(execution(requests=requests | {"sent_per_s": 21_345.6}))
    assert "sent 21,346/s" in fast


def test_times_from_due_stand_beside_those_from_sending_and_estimates_are_marked() -> None:
    rows = rows_of(execution())
    assert [row["metric"] for row in rows] == ["e2e_ms", "e2e_from_send_ms", "~tpot_ms"]
    assert [row["p95"] for row in rows] == ["402 ms", "120 ms", "402 ms"]


def test_a_percentile_that_is_not_supported_says_what_it_needs() -> None:
    (row, *_) = rows_of(execution())
    assert (row["p90"], row["p99"], row["p999"]) == ("380 ms", "needs 299", "needs 2,995")


def test_rates_failures_and_the_harness_are_told() -> None:
    assert rate_lines(measured_load(execution())) == [
        "e2e_ms counts from when a request was due",  # of those there are
        (
            "completed 37.9/s · ~1,213 output tokens/s · goodput 30/s"
            " · 60.0% of what was due kept ttft_ms 200"
            " (SLO: at least 99%: missed)"
        ),
        "failed: timeout 5, server 2",
        "connections opened: 10",
        "harness: overhead p50 0.11 ms, p99 0.4 ms, 812 µs CPU a request",
    ]


def test_the_ceiling_is_printed_with_its_range_where_it_is_known() -> None:
    ceiling = HARNESS | {"ceiling_per_s": 61_500.4}
    alone = execution(harness=ceiling)
    assert rate_lines(measured_load(alone))[-1].endswith("ceiling 61,500/s")
    ranged = execution(harness=ceiling | {"ceiling_low_per_s": 59_000.0})
    assert rate_lines(measured_load(ranged))[-1].endswith("ceiling 61,500/s (at least 59,000)")


def test_a_rate_just_below_a_thousand_has_no_exponent() -> None:
    metrics = METRICS | {"request_throughput_per_s": 999.7}
    assert rate_lines(measured_load(execution(metrics=metrics)))[1].startswith(
        "completed 1,000/s · "
    )


def test_a_harness_that_was_not_measured_says_so() -> None:
    assert "harness: not calibrated" in rate_lines(measured_load(execution(harness={})))


def test_reasons_and_warnings_name_their_load_where_there_are_several() -> None:
    warning, reason = WARNING, REASON
    assert load_notes([execution()]) == [warning, reason]
    other = changed(execution(warnings=["the clock went backwards"], reasons=[]), benchmark_id="b")
    assert load_notes([at(5), other]) == [
        f"load m rate=5: {warning}",
        f"load m rate=5: {reason}",
        "b m: the clock went backwards",
    ]


def test_what_all_points_of_a_sweep_have_in_common_is_said_once() -> None:
    sweep = [
        at(rate, warnings=[f"offered {rate}.0/s, sent 0.5/s"], reasons=[]) for rate in range(1, 7)
    ]
    alike = "load m rate=2, load m rate=3, load m rate=4 and 2 more"
    assert load_notes(sweep) == [f"load m rate=1: offered 1.0/s, sent 0.5/s (alike: {alike})"]


def test_what_the_repeats_of_a_load_have_in_common_names_it_once() -> None:
    reasons = [f"repeat {number}: some task waited" for number in (1, 2, 3)]
    sweep = [at(rate, warnings=[], reasons=reasons) for rate in (5, 6)]
    alike = "its other repeats, load m rate=6"
    assert load_notes(sweep) == [f"load m rate=5: repeat 1: some task waited (alike: {alike})"]


def test_a_load_without_times_has_no_empty_table(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = execution(metrics={}, unmeasured={})
    print_load(nothing, "table")
    said = capsys.readouterr().out
    assert "metric" not in said
    assert "\n\n\n" not in said


def test_markdown_of_one_load_begins_with_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(execution()), "md")  # type: ignore[arg-type]
    first, empty, head, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(
        "**m: noisy · offered 50/s, sent 38.6/s · 193 of 200 answered, 7 failed"
    )
    assert (empty, head.split(" | ")[0]) == ("", "| metric")


def test_one_load_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    print_load(execution(), "table")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("m: noisy · offered 50/s")
    assert lines[2].split() == ["metric", "mean", "p50", "p90", "p95", "p99", "p99.9", "max", "n"]
    assert lines[-1] == REASON


def test_json_of_one_load_is_its_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(execution()), "json")  # type: ignore[arg-type]
    assert json.loads(capsys.readouterr().out) == load_of(execution())


def test_json_of_a_sweep_has_a_document_a_point(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(at(5), at(10)), "json")  # type: ignore[arg-type]
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["run_id"]) == ("agentbench.load-sweep/1", "r")
    assert document["points"] == [load_of(at(5)), load_of(at(10))]


def test_a_sweep_is_a_row_a_point_with_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(at(5), at(10)), "table")  # type: ignore[arg-type]
    head, first, second = capsys.readouterr().out.splitlines()[:3]
    assert head.split()[:3] == ["agent", "parameters", "verdict"]
    assert first.split()[:3] == ["m", "rate=5", "noisy"]
    assert "402 ms" in second


def test_a_sweep_shows_what_was_broken_off_and_what_did_not_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_load_run(None, run_of(at(5), at(10)), "md")  # type: ignore[arg-type]
    assert not {"unfinished", "canceled"} & set(capsys.readouterr().out.split(" | "))
    counts = {"failed": {}, "ok": 0, "cancelled": 190, "unfinished": 10}
    leaving = at(10, requests=REQUESTS | counts)
    print_load_run(None, run_of(at(5), leaving), "md")  # type: ignore[arg-type]
    head, _, first, second, *_ = capsys.readouterr().out.splitlines()
    titles = head.split(" | ")
    place = titles.index("unfinished")
    assert titles[place : place + 2] == ["unfinished", "canceled"]
    assert "never sent" not in titles
    assert first.split(" | ")[place - 1 : place + 2] == ["7", "0", "0"]
    assert second.split(" | ")[place - 1 : place + 2] == ["0", "10", "190"]


def test_loads_stand_beside_tasks_in_a_runs_result(capsys: pytest.CaptureFixture[str]) -> None:
    print_run(run_of(at(5), at(10)), "table")
    said = capsys.readouterr().out
    assert "goodput/s" in said
    assert "right/answered/asked" not in said  # nothing was judged, nobody is ranked
    assert said.endswith("run r: complete\n")


def test_csv_of_one_load_is_a_row_of_numbers_for_each_metric(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_load_run(None, run_of(execution()), "csv")  # type: ignore[arg-type]
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    e2e = rows["e2e_ms"]
    assert (e2e["unit"], e2e["p50"], e2e["p99"], e2e["n"]) == ("ms", "360.0", "", "193")
    assert json.loads(e2e["needs"]) == {"p99": 299, "p999": 2995}
    assert rows["tpot_ms"]["estimated"] == "True"
    assert (rows["goodput_share"]["value"], rows["goodput_share"]["p50"]) == ("0.6", "")
    assert "ttft_ms" not in rows  # it was not measured
    first = {name: rows[name]["value"] for name in ("verdict", "sent", "ok", "failed")}
    assert first == {"verdict": "noisy", "sent": "200", "ok": "193", "failed": "7"}
    assert rows["unanswered"] | {"value": "7", "unit": "requests"} == rows["unanswered"]


def test_csv_of_a_sweep_is_a_row_of_numbers_for_each_point(
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = without_load(at(20), status="incomplete", stop_reason="no answer")
    print_load_run(None, run_of(at(5), at(10), broken), "csv")  # type: ignore[arg-type]
    first, second, third = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert [row["parameters.rate"] for row in (first, second, third)] == ["5", "10", "20"]
    assert (first["verdict"], first["failed"], first["goodput_per_s"]) == ("noisy", "7", "30.0")
    assert (first["e2e_ms.p95"], first["tpot_ms.p50"]) == ("402.0", "360.0")
    assert first["e2e_ms.p99"] == ""
    assert (third["status"], third["e2e_ms.p95"]) == ("incomplete", "")


def test_csv_of_a_run_of_loads_is_that_of_its_load(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(execution()), "csv")  # type: ignore[arg-type]
    as_printed = capsys.readouterr().out
    print_run(run_of(execution()), "csv")
    assert capsys.readouterr().out == as_printed


def test_json_lines_of_a_sweep_hold_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(at(5), at(10)), "jsonl")  # type: ignore[arg-type]
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["parameters.rate"], row["e2e_ms.p95"]) for row in rows] == [
        (5, 402.0),
        (10, 402.0),
    ]
    assert rows[0]["e2e_ms.p99"] is None


def test_a_sweep_without_limits_has_no_goodput(capsys: pytest.CaptureFixture[str]) -> None:
    points = [at(rate, slo={}) for rate in (5, 10)]
    print_load_run(None, run_of(*points), "table")  # type: ignore[arg-type]
    assert "goodput" not in capsys.readouterr().out


def test_few_loads_of_a_run_are_shown_in_full_and_many_a_line_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_run(run_of(at(5), at(10)), "table", in_full=True)
    said = capsys.readouterr().out
    assert "m rate=5: noisy · offered 50/s" in said
    assert said.count("harness: overhead p50 0.11 ms") == 2
    print_run(run_of(*map(at, range(1, 6))), "table", in_full=True)
    assert "harness:" not in capsys.readouterr().out


def test_an_interruption_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    stopped = {"status": "interrupted", "stop_reason": "interrupted"}
    never = without_load(execution(), **stopped)
    print_load_run(None, run_of(never) | stopped, "table")  # type: ignore[arg-type]
    assert capsys.readouterr().out == "m: interrupted\nrun r: interrupted\n"


def test_the_last_line_has_the_verdict_again(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(execution()), "table")  # type: ignore[arg-type]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "run r: complete · noisy · the server was the limit"


def test_a_load_that_could_not_be_measured_tells_why_in_its_own_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = "the load could not be measured"
    broken = without_load(
        execution(), status="incomplete", stop_reason=reason, failures={"connection": 3}
    )
    print_load_run(None, run_of(broken), "table")  # type: ignore[arg-type]
    assert capsys.readouterr().out.startswith(f"m: incomplete ({reason})\n")
    print_load_run(None, run_of(broken), "json")  # type: ignore[arg-type]
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["run_id"]) == ("agentbench.load/1", "r")
    assert (document["verdict"], document["reasons"]) == (None, [reason])
    assert (document["status"], document["stop_reason"]) == ("incomplete", reason)
    assert (document["requests"]["ok"], document["requests"]["failed"]) == (None, {"connection": 3})
    assert document["metrics"]["e2e_ms"]["p50"] is None
    assert document["metrics"]["e2e_ms"]["reason"] == reason
    assert document["unmeasured"]["goodput_per_s"] == reason
    assert document["harness"]["cpu_us_per_request"] is None


def test_a_sweep_tells_what_could_not_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    broken = without_load(at(20), status="incomplete", stop_reason="no answer")
    print_load_run(None, run_of(at(10), broken), "json")  # type: ignore[arg-type]
    document = json.loads(capsys.readouterr().out)
    assert document["points"] == [load_of(at(10))]
    (unmeasured,) = document["unmeasured"]
    assert (unmeasured["parameters"], unmeasured["stop_reason"]) == ({"rate": 20}, "no answer")


def keeping(
    rate: float, share: float | None, unmeasured: dict[str, str] | None = None, **names: Any
) -> ExecutionResult:
    """A point of a sweep at which so large a share of the requests kept the limits."""
    metrics = METRICS | {"goodput_share": share}
    return changed(at(rate, metrics=metrics, unmeasured=unmeasured or {}), **names)


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ([1.0, 0.995, 0.4], "highest rate within the SLO: 10/s (at least 99%"),
        ([1.0, 0.99, 0.99], "highest rate within the SLO: 20/s, all that were tried ("),
        ([0.98, 0.5, 0.4], "highest rate within the SLO: none of those tried ("),
        ([0.98, 0.99, 0.4], "highest rate within the SLO: 10/s, but not 5/s ("),
        ([1.0, None, None], "highest rate within the SLO: 5/s ("),
    ],
)
def test_a_sweep_with_limits_says_up_to_where_they_are_kept(
    shares: list[float | None], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [keeping(rate, share) for rate, share in zip((5, 10, 20), shares, strict=True)]
    print_load_run(None, run_of(*points), "table")  # type: ignore[arg-type]
    assert told in capsys.readouterr().out
    print_load_run(None, run_of(*points), "json")  # type: ignore[arg-type]
    found = json.loads(capsys.readouterr().out)["within_slo"]
    kept = [rate for rate, share in zip((5, 10, 20), shares, strict=True) if (share or 0) >= 0.99]
    assert (found["parameter"], found["held"], found["tried"]) == ("rate", kept, [5, 10, 20])
    assert found["highest"] == (kept[-1] if kept else None)


def test_limits_on_what_no_answer_has_leave_the_highest_rate_open() -> None:
    reason = {"goodput_share": "no answer has ttft_ms"}
    points = [keeping(rate, None, reason) for rate in (5, 10)]
    (line,) = slo_lines(points)
    assert line.startswith("highest rate within the SLO: not known, no answer has ttft_ms (at")


def test_users_that_keep_the_limits_are_told_by_their_own_name() -> None:
    points = [keeping(0, 1.0, parameters={"concurrency": users}) for users in (4, 8)]
    (line,) = slo_lines(points)
    assert line.startswith("highest concurrency within the SLO: 8, all that were tried")


def test_a_value_keeps_the_limits_only_with_every_seed_and_where_it_was_measured() -> None:
    broken = without_load(at(20))
    points = [keeping(5, 1.0), keeping(10, 1.0), keeping(10, 0.5), keeping(5, 1.0), broken]
    (found,) = within_slo(points)
    assert (found.held, found.tried) == ((5,), (5, 10, 20))


def test_agents_and_benchmarks_have_limits_of_their_own() -> None:
    points = [keeping(rate, 1.0, agent_id=agent) for agent in ("a", "b") for rate in (5, 10)]
    assert [line.partition(":")[0] for line in slo_lines(points)] == ["load a", "load b"]


@pytest.mark.parametrize(
    "points",
    [
        [keeping(5, 1.0)],
        [keeping(0, 1.0, parameters={"arrivals": name}) for name in ("gamma", "poisson")],
        [keeping(0, 1.0, parameters={"rate": n, "users": n}) for n in (1, 2)],
        [at(rate, slo={}) for rate in (5, 10)],
    ],
    ids=["one point", "words", "two numbers", "no limits"],
)
def test_what_is_no_sweep_of_one_number_under_limits_has_no_highest(
    points: list[ExecutionResult],
) -> None:
    assert within_slo(points) == []


def test_loads_of_several_benchmarks_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    others = [at(5), changed(at(10), benchmark_id="burst")]
    print_load_run(None, run_of(*others), "table")  # type: ignore[arg-type]
    head, *rows = capsys.readouterr().out.splitlines()[:3]
    assert [line.split()[0] for line in (head, *rows)] == ["load", "load", "burst"]


def test_a_sweep_shows_the_99th_percentiles(capsys: pytest.CaptureFixture[str]) -> None:
    print_load_run(None, run_of(at(5), at(10)), "table")  # type: ignore[arg-type]
    head, first, _ = capsys.readouterr().out.splitlines()[:3]
    assert ("e2e p99" in head, "ttft p99" in head, "needs 299" in first) == (True, True, True)


def repeated(count: int, low: float, high: float) -> ExecutionResult:
    method = "t on logs"
    of_e2e = RepeatSpread(values=(360.0,) * count, low=low, high=high, method=method)
    of_rate = MetricRepeats(values=(37.9,) * count, low=37.14, high=38.6, method=method)
    spread = {"e2e_ms": MetricRepeats(p50=of_e2e), "request_throughput_per_s": of_rate}
    return execution(repeats=count, between_repeats=spread)


def test_what_repeats_vary_by_stands_beside_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    print_load(repeated(3, 352.2, 370.1), "table")
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if line.startswith("e2e_ms "))
    assert "360 ms [352, 370]" in row
    assert "380 ms [" not in row  # of the 90th percentile nothing is said
    assert "[low, high]: 95% interval from the values of 3 repeats (t on their logs)" in said
    assert "completed 37.9/s [37.1, 38.6]" in said


def test_two_repeats_have_a_range_and_units_that_differ_are_both_told() -> None:
    two = repeated(2, 9_400.0, 12_000.0)
    assert rows_of(two)[0]["p50"] == "360 ms [9.40 s, 12.0 s]"
    assert repeats_line([two]) == "[lowest, highest] of 2 repeats"
    assert repeats_line([execution()]) == ""


def test_answers_that_the_plan_broke_off_are_told_apart() -> None:
    requests = REQUESTS | {"failed": {}, "ok": 0, "cancelled": 200}
    assert "0 of 200 answered, 200 canceled as planned" in headline(execution(requests=requests))


def test_what_an_interrupted_run_did_not_come_to_is_named_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    never = without_load(at(20), status="interrupted", stop_reason="interrupted")
    stopped = {"status": "interrupted", "stop_reason": "interrupted"}
    print_run(run_of(at(5), never, never) | stopped, "table")
    *_, last_but_one, last = capsys.readouterr().out.splitlines()
    assert last_but_one == "not measured: load m rate=20, load m rate=20"
    assert last == "run r: interrupted"


def words_of(text: str) -> set[str]:
    """What stands in printed lines beside numbers and their units."""
    number = r"(?<![\w.])~?[0-9](?:[0-9.,]*[0-9])?(?!\w)(?: (?:ms|µs|s)\b|%)?"
    text = re.sub(number, "", text).replace(" /s", "/s")
    parts = re.split(r" · |, |: ?|\n|  +|\(.*\)| and | count from .*", text)
    said = (re.sub(r"^of( |$)|(?<=kept) .*$|^~", "", part.strip()) for part in parts)
    return {part for part in said if part}


def test_every_word_of_a_printed_load_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"ok": 170, "cancelled": 10, "unfinished": 8, "unsent": 5}
    metrics = METRICS | {name: times(9, {"p99": 299}) for name in TIMES}
    metrics |= {"output_tokens_per_s_per_user": 52.0}
    harness = HARNESS | {"ceiling_per_s": 20_000.0, "realtime": True}
    told = {"metrics": metrics, "harness": harness, "warnings": [], "reasons": []}
    one = {"requests": REQUESTS | counts, **told}
    print_load(execution(**one), "table")
    print_load(execution(**told | {"harness": {}, "verdict": "clean", "limit": "client"}), "table")
    print_loads([at(rate, **one) for rate in (5, 10)], "table")

    words = words_of(capsys.readouterr().out) - {"m", "rate=", "load", "agent", "parameters"}
    words -= {"metric", "none of those tried", "–"}
    unknown = set()
    for said in words:
        try:
            assert explain_words(said)
        except UsageError:
            unknown.add(said)
    assert not unknown
    assert {"real-time priority", "never sent", "tokens/s per user", "e2e p95", "needs"} <= words
    assert {"canceled", "timeout", "the server was the limit", "tpot_ms", "harness"} <= words


def test_a_known_cost_is_in_the_first_line_and_in_the_table_of_a_sweep(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = METRICS
    priced = execution(metrics=metrics | {"cost_usd": 0.0123})
    assert headline(priced).endswith("the server was the limit · cost $0.012")
    assert "cost" not in headline(execution(metrics=metrics | {"cost_usd": None}))
    print_loads([priced, execution()], "table")
    title, first, second, *_ = capsys.readouterr().out.splitlines()
    assert title.split()[-1] == "USD"
    assert (first.split()[-1], second.split()[-1]) == ("$0.012", "–")
    print_loads([execution()], "table")
    assert "USD" not in capsys.readouterr().out
