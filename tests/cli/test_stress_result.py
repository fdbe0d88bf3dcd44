"""What a person sees of stress: what broke, at which level and why, and what to do about it."""

import csv
import io
import json
import sqlite3
from typing import Any

import msgspec
import pytest
import run_documents
from run_documents import as_printed

from agentbench_tui.analysis.load.resilience import recovery
from agentbench_tui.cli.run.result import print_run
from agentbench_tui.cli.stress.result import print_stress_run
from agentbench_tui.contracts.run import CaseCounts, ExecutionResult, RunDocument
from agentbench_tui.contracts.stress import AgentStress, ScenarioResult
from agentbench_tui.presentation.stress.report import agents_report, level_chart
from agentbench_tui.presentation.stress.sentences import (
    details,
    graded_advice,
    headline,
    scale_line,
    scaling_words,
    standing_line,
)
from agentbench_tui.reports.figures.line_chart import chart_plot
from agentbench_tui.stress.report import (
    Advice,
    LimitsUsed,
    NormalLoad,
    RecoveryFacts,
    ScalingFacts,
    ScenarioReport,
    ScoreFacts,
    TrendFacts,
    WindowFacts,
)
from agentbench_tui.stress.search.breaking_point import BreakingPoint
from agentbench_tui.verdicts.explanation import explain_words
from agentbench_tui.verdicts.stress.stress_document import (
    agents_under_stress,
    scenario_result,
    stress_document,
)

POINT = BreakingPoint(
    on="rate",
    unit="requests/s",
    status="found",
    passes=152.0,
    fails=166.0,
    confirmed=True,
    broke=("p95 of latency",),
    reason="p95 of latency 812 ms [790, 850], limit 183 ms",
    hysteresis=False,
    drift=False,
)
LEVELS = ((40.0, 52.0, "pass"), (80.0, 55.0, "pass"), (152.0, 90.0, "pass"), (166.0, 812.0, "fail"))
QUEUE = Advice(
    rule="queueing",
    severity="warning",
    words="queueing starts at 84 requests/s while the server's CPU is at 31%",
    evidence={"rate_per_s": 84.0},
)


def window(asked: float, p95: float, verdict: str, **more: Any) -> WindowFacts:
    return WindowFacts(
        phase="probe",
        repeat=0,
        length_s=5.0,
        asked_per_s=asked,
        p95_ms=p95,
        verdict=verdict,
        **more,
    )


def high_load(**given: Any) -> ScenarioReport:
    kept: dict[str, Any] = {
        "normal": NormalLoad(
            rate_per_s=42.0, users=4, p50_ms=51.0, p95_ms=61.0, capacity_per_s=158.0
        ),
        "limits": LimitsUsed(error_share=0.01, p95_ms=183.0, completed_share=0.95, derived=True),
        "windows": [window(*level) for level in LEVELS],
        "score": ScoreFacts(value=71.2, low=66.0, high=75.5, worst_second=0.1, windows=40),
        "breaking_points": [POINT],
        "recoveries": [RecoveryFacts(after="overload", seconds=3.0, watched_s=30.0)],
        "advice": [QUEUE],
    }
    return ScenarioReport(scenario="high_load", time_scale=0.05, simulated=True, **(kept | given))


def soak(**given: Any) -> ScenarioReport:
    memory = TrendFacts(
        of="memory",
        unit="MB",
        per_hour=600.0,
        low=550.0,
        high=650.0,
        direction="rising",
        words="rises by 600 MB an hour [550, 650]",
    )
    leak = Advice(rule="memory-leak", severity="critical", words="memory leaks 10 MB a minute")
    kept: dict[str, Any] = {
        "windows": [WindowFacts(phase="soak", repeat=0, length_s=60.0)],
        "score": ScoreFacts(value=31.0),
        "trends": [memory],
        "advice": [leak, QUEUE],
    }
    return ScenarioReport(scenario="sustained_load", time_scale=0.05, **(kept | given))


def told(report: ScenarioReport) -> ScenarioResult:
    return scenario_result(report)


def execution(report: ScenarioReport, agent: str = "m") -> ExecutionResult:
    return run_documents.execution(
        agent,
        report.scenario,
        kind="stress",
        simulated=report.simulated,
        cases=CaseCounts(total=None, observed=10, answered=10, correct=0),
        stress=told(report),
    )


def run_of(*executions: ExecutionResult) -> RunDocument:
    return run_documents.run(*executions, run_id="r", leaderboard=(run_documents.entry("m"),))


def shown(run: RunDocument, form: str, capfd: pytest.CaptureFixture[str]) -> str:
    with sqlite3.connect(":memory:") as connection:
        print_stress_run(connection, as_printed(run), form)
    connection.close()
    return capfd.readouterr().out


def agent_of(*reports: ScenarioReport) -> AgentStress:
    (agent,) = agents_under_stress(run_of(*map(execution, reports)))
    return agent


def test_the_headline_says_where_it_broke_how_it_stood_and_how_it_came_back() -> None:
    assert headline(told(high_load())) == (
        "high_load: breaks between 152 and 166 requests/s (p95 of latency)"
        " · resilience 71 [66, 76] · recovered after 3.00 s"
    )


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (
            high_load(
                breaking_points=[
                    BreakingPoint(on="rate", unit="requests/s", status="not reached", passes=1000.0)
                ],
                recoveries=[],
                score=None,
            ),
            "high_load: did not break: passes up to 1,000 requests/s",
        ),
        (
            high_load(
                breaking_points=[
                    BreakingPoint(on="input", unit="", status="below the least", fails=1.0)
                ],
                recoveries=[RecoveryFacts(after="overload", watched_s=30.0)],
                score=ScoreFacts(value=0.0),
            ),
            "high_load: breaks below 1 · resilience 0 · not recovered from overload",
        ),
        (
            high_load(
                breaking_points=[BreakingPoint(on="rate", unit="", status="nothing clear")],
                recoveries=[],
            ),
            "high_load: no level of rate passed or failed clearly · resilience 71 [66, 76]",
        ),
        (
            high_load(
                status="target lost",
                reason="it answers no more: connection refused",
                breaking_points=[],
                recoveries=[],
                score=None,
            ),
            "high_load: target lost: it answers no more: connection refused",
        ),
        (
            ScenarioReport(
                scenario="memory_pressure",
                status="not applicable",
                reason="the target's processes are not here",
            ),
            "memory_pressure: not applicable: the target's processes are not here",
        ),
        (soak(), "sustained_load: resilience 31"),
    ],
)
def test_the_headline_says_no_more_than_is_known(report: ScenarioReport, said: str) -> None:
    assert headline(told(report)) == said


def test_a_recovery_that_nobody_could_see_is_not_called_none() -> None:
    unseen = recovery([10.0] * 5, [0.0])
    facts = RecoveryFacts(
        after="overload", known=unseen.known, words=unseen.words, watched_s=unseen.watched_s
    )
    assert headline(told(high_load(recoveries=[facts]))).endswith("· recovery not known")


def lines_of(scenario: ScenarioResult) -> list[str]:
    return [one.line() for one in details(scenario)]


def test_what_stands_behind_it_has_its_figures() -> None:
    assert lines_of(told(high_load(missing={"memory": "its processes are not here"}))) == [
        (
            "normal: 42 requests/s, 4 users, p50 51.0 ms, p95 61.0 ms;"
            " highest throughput while finding this load 158/s"
        ),
        "limits: errors 1%, p95 183 ms (3 × that at normal load), 95% completed in time",
        f"rate: {POINT.words}; passes again after an overload and at the end",
        (
            "worst second: 10.0% of the requests due (or of the target's capacity if that is less)"
            " answered right within the limits"
        ),
        "after overload: recovered after 3.00 s",
        "– memory: its processes are not here",
    ]
    assert "812 ms [790, 850], limit 183 ms" in POINT.words


def test_a_target_that_does_not_come_back_is_told_so_by_the_search() -> None:
    hurt = msgspec.structs.replace(POINT, hysteresis=True, drift=None)
    (line,) = [one for one in lines_of(told(high_load(breaking_points=[hurt]))) if "rate:" in one]
    assert line.endswith("; does not come back after an overload")


def test_the_senders_own_limit_is_not_held_against_the_target() -> None:
    windows = [window(*LEVELS[0]), window(900.0, 61.0, "unclear", sender_limit="sent 700/s")]
    assert lines_of(told(high_load(windows=windows)))[-1] == (
        "in 1 of 2 windows the sender was the limit: sent 700/s"
    )


def test_trends_and_the_law_are_told() -> None:
    words = "memory rises by 600 MB/h [550, 650]"
    named, unnamed = soak(), soak()
    named.trends = [msgspec.structs.replace(soak().trends[0], words=words)]
    unnamed.trends = [msgspec.structs.replace(soak().trends[0], words="")]
    assert words in lines_of(told(named))  # and not named twice
    assert "memory: rising, 600 [550, 650] MB an hour" in lines_of(told(unnamed))
    law = told(
        ScenarioReport(
            scenario="concurrent_requests",
            scaling=ScalingFacts(
                model="usl",
                lambda_per_s=95.309,
                sigma=0.036177,
                sigma_interval=(0.035, 0.0374),
                kappa=0.00091092,
                n_star=32.5,
                n_star_interval=(31.0, 34.2),
                peak_per_s=1008.3,
            ),
        )
    ).scaling
    assert scaling_words(law) == (
        "Universal Scalability Law (USL): one user λ 95.3/s, waiting σ 0.0362 [0.035, 0.0374],"
        " agreeing κ 0.000911;"
        " N* 32.5 [31, 34.2] users, 1,008 requests/s there"
    )
    assert scaling_words(None) == ""


def test_what_memory_and_those_who_wait_are_like_is_told() -> None:
    seen: dict[str, float | str | bool] = {
        "memory_words": "34 MB at normal load, 60 MB at most, 35 MB afterwards",
        "ballast_mb": 4096.4,
        "left_beside_ballast_mb": 3500.0,
        "quiet_waited": 12.0,
        "quiet_served_after_wait": 3.0,
    }
    lines = lines_of(told(ScenarioReport(scenario="memory_pressure", observations=seen)))
    assert "memory: 34 MB at normal load, 60 MB at most, 35 MB afterwards" in lines
    assert "ballast: 4.10 GB taken from the machine, 3.50 GB left available" in lines
    assert "Retry-After: of 12 that waited for Retry-After after the overload 3 got in" in lines
    assert details(told(ScenarioReport(scenario="memory_pressure"))) == []


def test_the_gravest_advice_stands_first_and_is_told_once() -> None:
    assert [one.line() for one in graded_advice([told(high_load()), told(soak())])] == [
        "critical: memory leaks 10 MB a minute (sustained_load)",
        f"warning: {QUEUE.words} (high_load, sustained_load)",
    ]


def test_the_score_never_stands_without_the_worst_scenario() -> None:
    line = standing_line(agent_of(high_load(), soak()))
    # √(71.2 × 31) = 46.98
    assert line == (
        "resilience 47 of 100 (geometric mean of 2 of 8 scenarios); worst: sustained_load 31"
        "; 6 not run"
    )
    whole = standing_line(msgspec.structs.replace(agent_of(high_load(), soak()), missing=()))
    assert "(geometric mean of 2 scenarios); worst: " in whole
    nothing = agent_of(ScenarioReport(scenario="high_load", status="not applicable"))
    assert standing_line(nothing) == "resilience –; no score: high_load; 7 not run"


def test_a_scale_is_said_and_full_length_is_not() -> None:
    assert scale_line(agent_of(high_load())) == (
        "every duration × 0.05 (time scale); limits are not scaled"
    )
    assert scale_line(agent_of(ScenarioReport(scenario="high_load"))) == ""


def test_a_curve_needs_three_levels() -> None:
    curve = level_chart(told(high_load()))
    assert curve is not None
    (panel,) = chart_plot(curve).panels
    assert panel.lines[0].x == (40.0, 80.0, 152.0, 166.0)
    assert panel.lines[0].y == (52.0, 55.0, 90.0, 812.0)
    assert panel.levels == {"limit": 183.0}
    few = [window(*level) for level in LEVELS[:2]]
    assert level_chart(told(high_load(windows=few))) is None
    assert level_chart(told(soak())) is None


def test_a_run_is_told_in_blocks_that_end_with_the_score(
    capfd: pytest.CaptureFixture[str],
) -> None:
    out = shown(run_of(execution(high_load()), execution(soak())), "table", capfd)
    places = [
        out.index(words)
        for words in (
            "m (simulated)",
            "high_load: breaks between 152 and 166 requests/s",
            "sustained_load: resilience 31",
            "Recommendations",
            "critical: memory leaks 10 MB a minute",
            "every duration × 0.05",
            "resilience 47 of 100",
            "run r: complete",
        )
    ]
    assert places == sorted(places)
    assert "requests/s" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("form", ["table", "md"])
def test_what_a_target_says_cannot_control_the_terminal(
    form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    facts = RecoveryFacts(after="kill", words="not back \x1b]52;c;aGk=\x07")
    out = shown(run_of(execution(high_load(recoveries=[facts]))), form, capfd)
    assert "not back" in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_markdown_holds_headings_lists_and_the_curve(capfd: pytest.CaptureFixture[str]) -> None:
    out = shown(run_of(execution(high_load())), "md", capfd)
    assert out.startswith("## m (simulated)\n\n### high\\_load: breaks between")
    assert "\n- normal: 42 requests/s" in out
    assert out.count("```") == 2


def test_json_is_the_document_of_the_contract(capfd: pytest.CaptureFixture[str]) -> None:
    run = run_of(execution(high_load()))
    printed = json.loads(shown(run, "json", capfd))
    assert printed == json.loads(json.dumps(as_printed(stress_document(run))))


def test_csv_has_a_row_a_scenario(capfd: pytest.CaptureFixture[str]) -> None:
    run = run_of(execution(high_load()), execution(soak(), "other"))
    first, second = csv.DictReader(io.StringIO(shown(run, "csv", capfd)))
    assert (first["scenario"], first["pass"], first["fail"]) == ("high_load", "152.0", "166.0")
    assert (first["resilience"], first["resilience_low"]) == ("71.2", "66.0")
    assert first["recommendations"] == QUEUE.words
    assert (second["agent"], second["fail"], second["broke"]) == ("other", "", "False")
    assert first["why"] == POINT.reason
    assert [list(row) for row in agents_report([agent_of(soak())]).records.rows] == [list(second)]


def test_a_run_of_a_suite_is_told_the_same_way(capfd: pytest.CaptureFixture[str]) -> None:
    print_run(as_printed(run_of(execution(high_load()))), "table")
    out = capfd.readouterr().out
    assert "high_load: breaks between 152 and 166 requests/s" in out
    assert out.rstrip().endswith("run r: complete")


@pytest.mark.parametrize(
    "words",
    ["normal", "limits", "worst second", "recovered", "scaling", "resilience", "N*", "time scale"],
)
def test_words_of_the_result_are_explained(words: str) -> None:
    assert explain_words(words)
