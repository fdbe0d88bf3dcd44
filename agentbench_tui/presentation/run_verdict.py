"""The verdict on a run in words: which agent is best, by how much, and what speaks against it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import UNSET

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Verdict
from agentbench_tui.presentation.numbers import (
    amount,
    duration,
    measure_of,
    money,
    money_each,
    of_dimension,
    percent,
    price_words,
    score,
    with_interval,
)
from agentbench_tui.presentation.run_remarks import ALL_SIMULATED
from agentbench_tui.presentation.runs import is_judged, ranked_together
from agentbench_tui.presentation.stress.verdict import stress_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.contracts.leaderboard import Board, StandingLine
    from agentbench_tui.contracts.run import ExecutionResult, GateOutcome, RunDocument
    from agentbench_tui.contracts.run import RunLeaderboardEntry as Entry

_MOST_NAMED = 4
_NO_PRICES: Mapping[str, float] = MappingProxyType({})
_NOTEWORTHY = 0.005
"""Difference of two scores below which neither is called better in a dimension."""


def run_verdict(
    run: RunDocument,
    boards: Sequence[Board] = (),
    gates: Sequence[GateOutcome] = (),
    usd_per_hour: Mapping[str, float] = _NO_PRICES,
) -> Verdict:
    """Return the answer that a run gives: on its gates if it has any, else on its agents.

    `boards` are those of `agentbench leaderboard --run`, by the metric that ranks case by case;
    `usd_per_hour` is the price of an hour of each agent whose cost is the time that it takes.
    Simulated agents alone never make the outcome `good`, unless the run has gates: what they say
    of a real model is nothing, and that is the first reason.
    """
    answer = _unfinished(run) or _on_agents(run, boards, usd_per_hour)
    if _are_all_simulated(run):
        outcome = "open" if answer.outcome == "good" else answer.outcome
        answer = Verdict(answer.words, outcome, [ALL_SIMULATED, *answer.reasons])
    if gates:
        on_gates = _on_gates(gates)
        answer = Verdict(
            on_gates.words,
            on_gates.outcome,
            [*on_gates.reasons, answer.words, *answer.reasons],
        )
    return Verdict(answer.words, answer.outcome, [*answer.reasons, *_reservations(run)])


def _unfinished(run: RunDocument) -> Verdict | None:
    if run.status in {"complete", "stopped"}:
        return None
    observed = sum(one.cases.observed for one in run.executions)
    why = f" ({run.stop_reason})" if run.stop_reason not in {None, run.status} else ""
    so_far = counted(observed, "observation")
    return Verdict(f"No verdict: the run is {run.status}{why}, with {so_far} so far.", "open")


def _on_gates(gates: Sequence[GateOutcome]) -> Verdict:
    failed = [one for one in gates if one.holds is False]
    unknown = [one for one in gates if one.holds is None]
    checked = counted(len(gates), "check")
    if failed:
        return Verdict(
            f"Failed: {len(failed)} of {checked} failed.", "bad", _gate_lines([*failed, *unknown])
        )
    if unknown:
        return Verdict(
            f"Undecided: {len(unknown)} of {checked} cannot be judged.",
            "open",
            _gate_lines(unknown),
        )
    return Verdict(f"Passed: {'all ' if len(gates) > 1 else ''}{checked} passed.", "good")


def _gate_lines(gates: Sequence[GateOutcome]) -> list[str]:
    lines = [gate_words(one) for one in gates[:_MOST_NAMED]]
    more = len(gates) - len(lines)
    return [*lines, f"… and {counted(more, 'more check')}."] if more > 0 else lines


def gate_words(one: GateOutcome) -> str:
    """Write one check: `accuracy>=0.8 fails for rules on math: 0.61.`"""
    verb = {True: "holds", False: "fails", None: "cannot be judged"}[one.holds]
    value = one.reason or "no value" if one.value is None else one.value
    shown = value if isinstance(value, str) else amount(value)
    point = f" ({one.point})" if one.point else ""
    return f"{one.gate} {verb} for {one.agent_id} on {one.benchmark_id}{point}: {shown}."


def _on_agents(
    run: RunDocument, boards: Sequence[Board], usd_per_hour: Mapping[str, float]
) -> Verdict:
    entries = ranked_together([one for one in run.leaderboard if one.answered])
    stress = [one for one in run.executions if one.scenario is not None]
    loads = [one for one in run.executions if one.load_result is not None and one not in stress]
    if stress:
        return stress_verdict(stress)
    if not entries:
        return _on_loads(loads) if loads else Verdict("No verdict: nothing was answered.", "open")
    ranked = [one for one in entries if one.overall is not None and one.rank is not None]
    if ranked and len(entries) > 1:
        return _on_ranking(ranked, entries, _priced_time(run, entries, usd_per_hour))
    of_these = [one for one in boards if one.standings and one.simulated == entries[0].simulated]
    if len(entries) > 1 and of_these:
        return _on_board(of_these[0])
    if loads:
        return _on_loads(loads)
    if len(entries) == 1:
        return _on_one(entries[0], run, _priced_time(run, entries, usd_per_hour))
    return Verdict("No verdict: the agents cannot be ranked.", "open")


def _on_ranking(ranked: Sequence[Entry], entries: Sequence[Entry], priced_time: str) -> Verdict:
    """Judge several agents by their overall scores."""
    ordered = sorted(ranked, key=lambda one: one.rank or 0)
    first = [one for one in ordered if one.rank_shown == ordered[0].rank_shown]
    if len(first) > 1:
        return _tied_agents(first, entries)
    best, others = ordered[0], ordered[1:]
    shown = with_interval(best.overall, best.low, best.high)
    if not others:
        words = f"{best.agent_id} is the only agent with an overall score: {shown}."
        return Verdict(words, "open", _facts(best, entries, priced_time))
    following = others[0]
    clearly = "clearly ahead of" if best.ranked_by else "ahead of"
    words = (
        f"{best.agent_id} is the best of {counted(len(ordered), 'agent')}: overall score {shown}, "
        f"{clearly} {following.agent_id} at "
        f"{with_interval(following.overall, following.low, following.high)}."
    )
    return Verdict(words, "good", _facts(best, entries, priced_time))


def _tied_agents(first: Sequence[Entry], entries: Sequence[Entry]) -> Verdict:
    names = some_names([one.agent_id for one in first])
    scores = ", ".join(score(one.overall) for one in first[:_MOST_NAMED])
    words = (
        f"No single winner: {names} are statistically tied for first place by overall score "
        f"({scores})."
    )
    reasons = []
    for dimension in DIMENSIONS:
        known = [(getattr(one, dimension), one.agent_id) for one in first]
        if any(value is None for value, _ in known):
            continue
        (high, name), (low, _) = max(known), min(known)
        show = of_dimension(dimension)
        if high - low >= _NOTEWORTHY:
            reasons.append(
                f"In {dimension}, {name} has the highest score among them: {show(high)} "
                f"(lowest: {show(low)})."
            )
    return Verdict(words, "open", [*reasons, *_failing(entries)])


def _facts(best: Entry, entries: Sequence[Entry], priced_time: str) -> list[str]:
    """Say what supports the best agent, and where another is better."""
    others = [one for one in entries if one is not best]
    lines = []
    if best.observed and best.correct:
        lines.append(
            f"{best.agent_id} gets {best.correct:,} of {best.observed:,} right "
            f"({percent(best.correct / best.observed)})" + _next_most_correct(others) + "."
        )
    leads, behind = [], []
    for dimension in DIMENSIONS:
        own = getattr(best, dimension)
        known = [(value, one.agent_id) for one in others
                 if (value := getattr(one, dimension)) is not None]  # fmt: skip
        if own is None or not known:
            continue
        highest, name = max(known)
        if own - highest >= _NOTEWORTHY:
            leads.append(dimension)
        elif highest - own >= _NOTEWORTHY:
            show = of_dimension(dimension)
            behind.append(f"{name} has the higher {dimension} score: {show(highest)} against "
                          f"{show(own)}.")  # fmt: skip
    if leads:
        lines.append(f"{best.agent_id} has the highest score in {_listed(leads)}.")
    price = _each(best)
    if price is not None:
        each = _price_words(best, price, others)
        lines.append(f"{each} {priced_time}" if priced_time else each)
    return [*lines, *behind, *_failing(entries)]


def _next_most_correct(others: Sequence[Entry]) -> str:
    shares = [(one.correct / one.observed, one) for one in others if one.observed]
    if not shares:
        return ""
    share, most = max(shares, key=lambda item: item[0])
    return f"; among the others, {most.agent_id} gets the most right: {percent(share)}"


def _each(entry: Entry) -> float | None:
    """Return USD per right answer; None where it is not known."""
    if entry.cost_usd is None or not entry.correct:
        return None
    return entry.cost_usd / entry.correct


def _price_words(best: Entry, price: float, others: Sequence[Entry]) -> str:
    words = f"Right answers of {best.agent_id} cost {price_words(price, 'answers')}"
    known = [(each, one.agent_id) for one in others if (each := _each(one)) is not None]
    if not known:
        return f"{words}."
    least, name = min(known)
    if money_each(least) == money_each(price):
        return f"{words}, about as much as those of {name}."
    if least < price:
        return f"{words}; those of {name} are cheaper: {price_words(least, 'answers')}."
    return f"{words}, the lowest price; {name} follows: {price_words(least, 'answers')}."


def _priced_time(
    run: RunDocument, entries: Sequence[Entry], usd_per_hour: Mapping[str, float]
) -> str:
    """Say that costs are priced time, and how far they can be believed; empty if they are not."""
    prices = {usd_per_hour.get(one.agent_id) for one in entries if one.cost_usd is not None}
    known = sorted(price for price in prices if price is not None)
    if not known:
        return ""
    rates = " to ".join(money(price) for price in dict.fromkeys((known[0], known[-1])))
    what = "Costs" if None not in prices else "Some costs"
    words = f"{what} are machine time at {rates} an hour, not token prices"
    if run.harness in {None, "clean"}:
        return f"{words}."
    return f"{words}; the timings are {run.harness}, so do not rely on small differences."


def _failing(entries: Sequence[Entry]) -> list[str]:
    return [
        f"{one.agent_id} fails to answer {one.failures:,} of {one.observed:,}."
        for one in entries
        if one.failures
    ]


def _on_board(board: Board) -> Verdict:
    """Judge by a board, where no overall scores exist."""
    first = board.standings[0]
    unit_words = f"by {board.metric}"
    tied = [one for one in board.standings if one.shared_rank == first.shared_rank]
    if len(tied) > 1:
        names = some_names([one.name for one in tied])
        return Verdict(
            f"No single winner: {names} are statistically tied for first place {unit_words}.",
            "open",
            [f"{one.name}: {_value(board, one)}." for one in tied[:_MOST_NAMED]],
        )
    following = next((one for one in board.standings if one is not first), None)
    words = f"{first.name} is first {unit_words}: {_value(board, first)}"
    if following is not None:
        clearly = "clearly ahead of" if following.name in first.ahead_of else "followed by"
        words += f", {clearly} {following.name} at {_value(board, following)}"
    return Verdict(f"{words}.", "good" if following is not None else "plain")


def _value(board: Board, one: StandingLine) -> str:
    show = score if board.unit is UNSET else measure_of(board.unit)
    return with_interval(one.score, one.low, one.high, show)


def _on_one(entry: Entry, run: RunDocument, priced_time: str) -> Verdict:
    """Describe the only agent."""
    own = [
        one
        for one in run.executions
        if (one.agent_id, one.agent_version, one.simulated)
        == (entry.agent_id, entry.agent_version, entry.simulated)
    ]
    judged = any(map(is_judged, own))
    words = f"{entry.agent_id} answers {entry.answered:,} of {entry.observed:,}"
    if judged and entry.observed:
        words = (
            f"{entry.agent_id} gets {entry.correct:,} of {entry.observed:,} right "
            f"({percent(entry.correct / entry.observed)})"
        )
    if entry.overall is not None:
        words += f"; overall score {with_interval(entry.overall, entry.low, entry.high)}"
    price = _each(entry)
    reasons = []
    if price is not None:
        each = f"Right answers cost {price_words(price, 'answers')}."
        reasons.append(f"{each} {priced_time}" if priced_time else each)
    reasons += _slowest(own)
    return Verdict(f"{words}.", "plain", [*reasons, *_failing([entry])])


def _slowest(executions: Sequence[ExecutionResult]) -> list[str]:
    known = [
        (value, one.benchmark_id)
        for one in executions
        if (value := one.value("e2e_ms.p95")) is not None
    ]
    if not known:
        return []
    longest, benchmark = max(known)
    return [f"95% of its answers take at most {duration(longest)} on {benchmark}, the slowest."]


def _on_loads(loads: Sequence[ExecutionResult]) -> Verdict:
    lines = [load_words(one) for one in loads]
    return Verdict(lines[0], "plain", lines[1:])


def load_words(execution: ExecutionResult) -> str:
    """Write what a load found: rate, latency, failures, and whether the measurement is sound."""
    load = execution.load_result
    assert load is not None
    requests = load.requests
    rate = load.number("request_throughput_per_s")
    latency = load.distribution("e2e_ms")
    p95 = None if latency is None else latency.part("p95")
    failed = sum(requests.failed.values())
    words = [f"{execution.agent_id} on {execution.benchmark_id}"]
    parts = []
    if rate is not None:
        offered = requests.asked_per_s
        of = "" if offered is None else f" of {amount(offered)} offered"
        parts.append(f"{amount(rate)} requests/s answered{of}")
    if p95 is not None:
        parts.append(f"p95 end-to-end latency {duration(p95)}")
    if requests.sent is not None:
        parts.append(f"{failed:,} of {requests.sent:,} failed")
    if load.verdict not in {None, "clean"}:
        parts.append(f"the measurement is {load.verdict}")
    return f"{words[0]}: {', '.join(parts) or 'not measured'}."


def _are_all_simulated(run: RunDocument) -> bool:
    return bool(run.leaderboard) and all(one.simulated for one in run.leaderboard)


def _reservations(run: RunDocument) -> list[str]:
    """Say what limits the verdict."""
    lines = []
    simulated = [one.agent_id for one in run.leaderboard if one.simulated]
    if simulated and not _are_all_simulated(run):
        are = "is" if len(simulated) == 1 else "are"
        lines.append(
            f"{some_names(simulated)} {are} simulated and not compared with the measured agents."
        )
    if run.harness not in {None, "clean"}:
        lines.append(
            f"The measurement is {run.harness}: the machine or the harness disturbed the timings."
        )
    return lines


def some_names(names: Sequence[str]) -> str:
    """List names: `a, b and c`, at most four of them."""
    more = len(names) - _MOST_NAMED
    if more > 0:
        return f"{', '.join(names[:_MOST_NAMED])} and {more} more"
    return _listed(names)


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
