"""The verdict on a stress run in words: which target broke or did not recover, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Verdict
from agentbench_tui.presentation.numbers import amount
from agentbench_tui.presentation.stress.sentences import breaking_words, not_recovered_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    known = all(one.seconds is not None for each in scenarios for one in each.recoveries)
    after = ", and recovered from all" if known else "; some recoveries were watched too briefly"
    return Verdict(f"{agent} did not break in {total}{after}.", "good", reasons)


def _several(found: Sequence[Found], agents: Sequence[str]) -> Verdict:
    of = {agent: [one for name, one in found if name == agent] for agent in agents}
    counts = {agent: sum(bool(one.broke) for one in of[agent]) for agent in agents}
    fewest = min(counts.values())
    best = [agent for agent in agents if counts[agent] == fewest]
    alone = {agent: _one_agent(agent, [(agent, one) for one in of[agent]]) for agent in agents}
    lines = [alone[agent].words for agent in agents]
    weakest = [words for agent in agents for words in _weakest(of[agent], of_agent=agent)]
    total = counted(len(of[best[0]]), "scenario")
    if len(best) > 1:
        words = f"No single winner: {', '.join(best)} broke in {fewest or 'none'} of {total} each."
        return Verdict(words, "open", [*lines, *weakest])
    first = best[0]
    others = ", ".join(f"{agent} in {counts[agent]}" for agent in agents if agent != first)
    words = f"{first} holds up best: it broke in {fewest or 'none'} of {total}, {others}."
    # Of scenarios that were not measured nobody knows whether the first one would have broken.
    outcome = alone[first].outcome if fewest == 0 else "open"
    own = lines[agents.index(first)]
    reasons = [own, *_breaks_of_others(of, first), *_not_recovered(of), *weakest]
    return Verdict(words, outcome, reasons)


def _breaks_of_others(of: Mapping[str, Sequence[ScenarioResult]], first: str) -> list[str]:
    """Say where the others broke, and what the first agent did there."""
    own = {one.name: breaking_words(one) for one in of[first]}
    lines = []
    for agent, scenarios in of.items():
        for one in scenarios:
            if agent != first and one.broke:
                against = f"; {first} {own[one.name]}" if own.get(one.name) else ""
                lines.append(f"{one.name}: {agent} {breaking_words(one) or 'breaks'}{against}.")
    return lines[:_MOST_LINES]


def _not_recovered(of: Mapping[str, Sequence[ScenarioResult]]) -> list[str]:
    return [
        f"{one.name}: {agent} did not recover while it was watched."
        for agent, scenarios in of.items()
        for one in scenarios
        if _is_lasting(one)
    ][:_MOST_LINES]


def _is_lasting(scenario: ScenarioResult) -> bool:
    """Return whether the target did not recover while it was watched long enough to tell."""
    return bool(not_recovered_from(scenario))


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
