"""The verdict on a run: measured and simulated agents are never compared with each other."""

from __future__ import annotations

from msgspec.structs import replace
from run_documents import entry, execution, run

from agentbench_tui.contracts.run import CaseCounts, RunDocument, RunLeaderboardEntry
from agentbench_tui.presentation.full_report.cost_chapter import cost_quality_chart
from agentbench_tui.presentation.full_report.leaderboard_chapter import agent_row
from agentbench_tui.presentation.run import execution_row
from agentbench_tui.presentation.run_verdict import run_verdict


def scored(
    name: str, overall: float, rank: int, usd: float, *, simulated: bool = False
) -> RunLeaderboardEntry:
    return entry(
        name, overall=overall, low=overall - 0.01, high=overall + 0.01, rank=rank,
        rank_shown=str(rank), ranked_by="cases", accuracy=overall, cost_usd=usd, correct=2,
        simulated=simulated,
    )  # fmt: skip


def of(*entries: RunLeaderboardEntry) -> RunDocument:
    executions = [execution(one.agent_id, simulated=one.simulated) for one in entries]
    return run(*executions, leaderboard=entries)


def test_one_measured_and_one_simulated_agent_are_not_tied() -> None:
    found = run_verdict(of(scored("real", 0.6, 1, 2.0), scored("sim", 0.9, 1, 1.0, simulated=True)))
    assert found.words == "real gets 2 of 3 right (66.7%); overall score 0.600 [0.590, 0.610]."
    assert "sim is simulated and not compared with the measured agents." in found.reasons
    assert not any("sim" in one for one in found.reasons if "not compared" not in one)


def test_the_best_is_the_best_of_the_measured_agents() -> None:
    found = run_verdict(
        of(
            scored("good", 0.8, 1, 2.0),
            scored("bad", 0.4, 2, 4.0),
            scored("sim", 0.99, 1, 0.5, simulated=True),
        )
    )
    assert found.words.startswith("good is the best of 2 agents: overall score 0.800")
    words = "Right answers of good cost $1.00 each, the lowest price; bad follows: $2.00 each."
    assert words in found.reasons


def test_prices_that_look_alike_are_not_ordered() -> None:
    found = run_verdict(of(scored("good", 0.8, 1, 2.0), scored("bad", 0.4, 2, 2.0001)))
    words = "Right answers of good cost $1.00 each, about as much as those of bad."
    assert words in found.reasons


def test_simulated_agents_alone_are_no_go_ahead_and_the_first_reason_says_so() -> None:
    of_real = run_verdict(of(scored("a", 0.8, 1, 2.0), scored("b", 0.4, 2, 4.0)))
    assert of_real.outcome == "good"
    of_mocks = run_verdict(
        of(scored("a", 0.8, 1, 2.0, simulated=True), scored("b", 0.4, 2, 4.0, simulated=True))
    )
    assert of_mocks.words == of_real.words
    assert of_mocks.outcome == "open"
    assert list(of_mocks.reasons) == [
        "All agents are simulated: these figures say nothing about a real model.",
        *of_real.reasons,
    ]


def test_simulated_agents_are_compared_among_themselves() -> None:
    found = run_verdict(
        of(scored("a", 0.8, 1, 2.0, simulated=True), scored("b", 0.4, 2, 4.0, simulated=True))
    )
    assert found.words.startswith("a is the best of 2 agents")
    assert (
        "All agents are simulated: these figures say nothing about a real model." in found.reasons
    )


def test_no_simulated_agent_is_on_the_front_of_measured_ones_or_drives_one_off_it() -> None:
    chart = cost_quality_chart(
        [
            scored("good", 0.8, 1, 2.0),
            scored("bad", 0.4, 2, 4.0),
            scored("sim", 0.99, 1, 0.5, simulated=True),
        ]
    )
    assert chart is not None
    assert {one.name: one.on_front for one in chart.dots} == {
        "good": True, "bad": False, "sim": False,
    }  # fmt: skip


def test_what_nobody_judged_has_no_right_answers() -> None:
    counts = CaseCounts(total=200, observed=200, answered=200, correct=0)
    load = execution(kind="load", cases=counts)
    assert execution_row(load)["cases"] == "–/200/200"
    of_load = entry(observed=200, answered=200, correct=0, speed=0.5)
    assert agent_row(of_load, judged=False)["answers"] == "–/200/200"


def test_costs_that_are_priced_time_are_named_and_doubted_if_the_timings_are_noisy() -> None:
    agents = (scored("good", 0.8, 1, 2.0), scored("bad", 0.4, 2, 2.0001))
    priced = {"good": 0.1, "bad": 0.1}
    price = "Right answers of good cost $1.00 each, about as much as those of bad."
    told = of(*agents)
    assert price in run_verdict(told).reasons
    clean = f"{price} Costs are machine time at $0.10 an hour, not token prices."
    assert clean in run_verdict(told, usd_per_hour=priced).reasons
    noisy = replace(told, harness="noisy")
    assert (
        f"{price} Costs are machine time at $0.10 an hour, not token prices; the timings are noisy,"
        " so do not rely on small differences." in run_verdict(noisy, usd_per_hour=priced).reasons
    )
    some = run_verdict(told, usd_per_hour={"bad": 0.5}).reasons
    assert any("Some costs are machine time at $0.50 an hour" in one for one in some)
