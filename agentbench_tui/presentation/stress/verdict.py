"""The verdict on a stress run in words: which target broke or did not recover, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Verdict
from agentbench_tui.presentation.numbers import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.run import ExecutionResult
    from agentbench_tui.contracts.stress import ScenarioResult

    Found = tuple[str, ScenarioResult]
    """An agent, and what one scenario found of it."""

_MOST_LINES = 6


def stress_verdict(executions: Sequence[ExecutionResult]) -> Verdict:
    """Judge the targets of a stress run by the scenarios in which they broke."""
    found = [(one.agent_id, one.scenario) for one in executions if one.scenario is not None]
    agents = list(dict.fromkeys(agent for agent, _ in found))
    if len(agents) > 1:
        return _several(found, agents)
    return _one_agent(agents[0], found)


def _one_agent(agent: str, found: Sequence[Found]) -> Verdict:
    scenarios = [one for _, one in found]
    broken = [one for one in scenarios if one.broke]
    unknown = [one for one in scenarios if one.broke is None]
    lasting = [one for one in scenarios if _is_lasting(one)]
    total = counted(len(scenarios), "scenario")
    reasons = [
        *(_broke_words(one) for one in broken),
        *(f"{one.name} was not measured: {one.reason or one.status}." for one in unknown),
        *_critical(scenarios),
        *_weakest(scenarios),
    ][:_MOST_LINES]
    if broken:
        return Verdict(f"{agent} broke in {len(broken)} of {total}.", "bad", reasons)
    if unknown:
        words = f"No verdict on {agent}: {len(unknown)} of {total} could not be measured."
        return Verdict(words, "open", reasons)
    if lasting:
        names = ", ".join(str(one.name) for one in lasting)
        words = f"{agent} did not break in {total}, but did not recover after {names}."
        return Verdict(words, "open", reasons)
    return Verdict(f"{agent} did not break in {total}, and recovered from all.", "good", reasons)


def _several(found: Sequence[Found], agents: Sequence[str]) -> Verdict:
    of = {agent: [one for name, one in found if name == agent] for agent in agents}
    counts = {agent: sum(bool(one.broke) for one in of[agent]) for agent in agents}
    fewest = min(counts.values())
    best = [agent for agent in agents if counts[agent] == fewest]
    lines = [_one_agent(agent, [(agent, one) for one in of[agent]]).words for agent in agents]
    weakest = [words for agent in agents for words in _weakest(of[agent], of_agent=agent)]
    if len(best) == 1:
        total = counted(len(of[best[0]]), "scenario")
        words = f"{best[0]} broke in the fewest scenarios: {fewest} of {total}."
        return Verdict(words, "good" if fewest == 0 else "open", [*lines, *weakest])
    words = f"No single winner: {', '.join(best)} broke in as many scenarios, {fewest} each."
    return Verdict(words, "open", [*lines, *weakest])


def _is_lasting(scenario: ScenarioResult) -> bool:
    """Return whether the target did not recover while it was watched."""
    return any(one.seconds is None for one in scenario.recoveries)


def _broke_words(scenario: ScenarioResult) -> str:
    point = scenario.breaking_point
    words = point.words if point is not None and point.words else "broke"
    return f"{scenario.name}: {words.rstrip('.')}."


def _critical(scenarios: Sequence[ScenarioResult]) -> list[str]:
    lines = [one.words for scenario in scenarios for one in scenario.recommendations
             if one.severity == "critical"]  # fmt: skip
    return list(dict.fromkeys(lines))


def _weakest(scenarios: Sequence[ScenarioResult], of_agent: str = "") -> list[str]:
    scored = [(one.resilience, str(one.name)) for one in scenarios if one.resilience is not None]
    if not scored:
        return []
    lowest, name = min(scored)
    of = f" of {of_agent}" if of_agent else ""
    return [f"The lowest resilience{of} is {amount(lowest)} of 100, in {name}."]
