"""The verdict on a stress run in words: which target broke or did not recover, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Verdict
from agentbench_tui.presentation.numbers import amount
from agentbench_tui.presentation.stress.sentences import (
    breaking_words,
    in_words,
    not_recovered_from,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.contracts.run import ExecutionResult
    from agentbench_tui.contracts.stress import ScenarioResult, StressBreakingPoint
    from agentbench_tui.presentation.full_report.parts import Outcome

    Found = tuple[str, ScenarioResult]
    """An agent, and what one scenario found of it."""

_MOST_LINES = 6


def stress_verdict(executions: Sequence[ExecutionResult]) -> Verdict:
    """Judge the targets of a stress run by their breaking points and their recovery.

    That its durations were shortened comes first among the reasons.
    """
    found = [(one.agent_id, one.scenario) for one in executions if one.scenario is not None]
    agents = list(dict.fromkeys(agent for agent, _ in found))
    answer = _several(found, agents) if len(agents) > 1 else _one_agent(agents[0], found)
    scaled = _scaled([scenario for _, scenario in found])
    return Verdict(answer.words, answer.outcome, [*scaled, *answer.reasons])


def _scaled(scenarios: Sequence[ScenarioResult]) -> list[str]:
    """Say that shortened scenarios are no basis for a decision."""
    scales = {one.time_scale for one in scenarios if one.time_scale is not None}
    if not scales or min(scales) >= 1:
        return []
    words = " to ".join(f"{scale:g}" for scale in sorted({min(scales), max(scales)}))
    return [
        (
            f"This is a first look: every duration is multiplied by {words} (time scale). For"
            " figures to decide on, run the suite stress at full length."
        )
    ]


def _one_agent(agent: str, found: Sequence[Found]) -> Verdict:
    scenarios = [one for _, one in found]
    broken = [one for one in scenarios if one.broke]
    unknown = [one for one in scenarios if one.broke is None]
    lasting = [one for one in scenarios if _is_lasting(one)]
    reasons = [
        *(_broke_words(one) for one in broken),
        *(f"{in_words(one.name)} was not measured: {one.reason or one.status}." for one in unknown),
        *_critical(scenarios),
        *_weakest(scenarios),
    ][:_MOST_LINES]
    standing = f"{agent}: {_standing(scenarios)}"
    if broken:
        return Verdict(f"{standing}.", "bad", reasons)
    if unknown:
        total = counted(len(scenarios), "scenario")
        words = f"No verdict on {agent}: {len(unknown)} of {total} could not be measured."
        return Verdict(words, "open", reasons)
    if lasting:
        names = ", ".join(in_words(one.name) for one in lasting)
        return Verdict(f"{standing}; it did not recover after {names}.", "open", reasons)
    outcome: Outcome = "open" if _undecided(scenarios) else "good"
    return Verdict(f"{standing}{_recovered(scenarios)}.", outcome, reasons)


def _standing(scenarios: Sequence[ScenarioResult]) -> str:
    """Say at which level a target breaks, or up to which it was searched without breaking.

    Scenarios that search for no breaking point do not count, unless the target was lost in them.
    """
    broken = [one for one in scenarios if one.broke]
    points = [point for one in scenarios for point in one.breaking_points]
    levels = _levels(points, "fails")
    lost = [in_words(one.name) for one in broken if all(point.fails is None
            for point in one.breaking_points)]  # fmt: skip
    if broken:
        words = [f"breaks at {_listed(levels)}"] if levels else []
        return " and ".join([*words, *([f"was lost in {', '.join(lost)}"] if lost else ())])
    passed = _levels(points, "passes")
    open_ones = _undecided(scenarios)
    unclear = f"no clear result of the search in {', '.join(open_ones)}"
    if not points:
        searched = "none of which searches for a breaking point"
        return f"did not break in {counted(len(scenarios), 'scenario')}, {searched}"
    if not passed:
        return unclear
    tried = all(point.status in {"not reached", "nothing clear"} for point in points)
    most = ", the most tried" if tried else ""
    words = [f"no breaking point up to {_listed(passed)}{most}"]
    return "; ".join([*words, *([unclear] if open_ones else ())])


def _levels(points: Sequence[StressBreakingPoint], end: Literal["passes", "fails"]) -> list[str]:
    """Return the lowest such level of each unit: `217 requests/s`, `12 users`."""
    lowest: dict[str, float] = {}
    for point in points:
        level = point.passes if end == "passes" else point.fails
        if level is not None:
            lowest[point.unit] = min(level, lowest.get(point.unit, level))
    return [f"{amount(level)} {unit}".rstrip() for unit, level in lowest.items()]


def _undecided(scenarios: Sequence[ScenarioResult]) -> list[str]:
    """Name the scenarios that searched for a breaking point without any clear level."""
    return [
        in_words(one.name)
        for one in scenarios
        if any(point.passes is None and point.fails is None for point in one.breaking_points)
    ]


def _recovered(scenarios: Sequence[ScenarioResult]) -> str:
    """Say how often a target recovered, of the scenarios that measured a recovery."""
    measured = [one for one in scenarios if one.recoveries]
    known = [one for one in measured if all(each.seconds is not None for each in one.recoveries)]
    if not measured:
        return ""
    if len(known) < len(measured):
        return "; some recoveries were watched too briefly"
    every = "all" if len(measured) > 1 else "the"
    return f"; it recovered in {every} {counted(len(measured), 'scenario')} that measured recovery"


def _several(found: Sequence[Found], agents: Sequence[str]) -> Verdict:
    of = {agent: [one for name, one in found if name == agent] for agent in agents}
    broken = {agent: sum(bool(one.broke) for one in of[agent]) for agent in agents}
    unknown = _unmeasured(of)
    # A scenario that was not measured may have failed or not. An agent can be the best unless
    # another one failed in fewer scenarios even if all of its unmeasured ones failed.
    fewest = min(broken[agent] + unknown[agent] for agent in agents)
    best = [agent for agent in agents if broken[agent] <= fewest]
    if len(best) > 1 and any(unknown[agent] for agent in best):
        return _no_verdict(of, {agent: unknown[agent] for agent in best if unknown[agent]})
    alone = {agent: _one_agent(agent, [(agent, one) for one in of[agent]]) for agent in agents}
    lines = [alone[agent].words for agent in agents]
    weakest = [words for agent in agents for words in _weakest(of[agent], of_agent=agent)]
    if len(best) > 1:
        return Verdict(f"No single winner: {_tied(of, best)}.", "open", [*lines, *weakest])
    first = best[0]
    others = "; ".join(f"{agent} {_standing(of[agent])}" for agent in agents if agent != first)
    words = f"{first} holds up best: {_standing(of[first])}; {others}."
    outcome = "open" if broken[first] or unknown[first] else alone[first].outcome
    own = lines[agents.index(first)]
    reasons = [own, *_breaks_of_others(of, first), *_not_recovered(of), *weakest]
    return Verdict(words, outcome, reasons)


def _unmeasured(of: Mapping[str, Sequence[ScenarioResult]]) -> dict[str, int]:
    """Count the scenarios of each agent without a result, those that others had and it lacks
    included.
    """
    total = max(map(len, of.values()))
    return {
        agent: total - sum(one.broke is not None for one in scenarios)
        for agent, scenarios in of.items()
    }


def _no_verdict(of: Mapping[str, Sequence[ScenarioResult]], unknown: Mapping[str, int]) -> Verdict:
    """Say which agents could lead if their scenarios had been measured, and why they were not."""
    total = counted(max(map(len, of.values())), "scenario")
    gaps = [f"{agent} was not measured in {n} of {total}" for agent, n in unknown.items()]
    first = [*unknown, *(agent for agent in of if agent not in unknown)]
    lines = [_one_agent(agent, [(agent, one) for one in of[agent]]).words for agent in first]
    causes = [
        f"{in_words(one.name)} of {agent} was not measured: {one.reason or one.status}."
        for agent in unknown
        for one in of[agent]
        if one.broke is None
    ]
    weakest = [words for agent in of for words in _weakest(of[agent], of_agent=agent)]
    words = f"No verdict on which target holds up best: {'; '.join(gaps)}."
    return Verdict(words, "open", [*lines, *causes[:_MOST_LINES], *weakest])


def _tied(of: Mapping[str, Sequence[ScenarioResult]], best: Sequence[str]) -> str:
    """Say what the best agents have in common, or where each of them breaks."""
    standings = {agent: _standing(of[agent]) for agent in best}
    if len(set(standings.values())) == 1:
        return f"{_listed(best)} hold up alike ({standings[best[0]]})"
    return "; ".join(f"{agent} {words}" for agent, words in standings.items())


def _breaks_of_others(of: Mapping[str, Sequence[ScenarioResult]], first: str) -> list[str]:
    """Say where the others broke, and what the first agent did there."""
    own = {one.name: breaking_words(one) for one in of[first]}
    lines = []
    for agent, scenarios in of.items():
        for one in scenarios:
            if agent != first and one.broke:
                against = f"; {first} {own[one.name]}" if own.get(one.name) else ""
                lines.append(
                    f"{in_words(one.name)}: {agent} {breaking_words(one) or 'breaks'}{against}."
                )
    return lines[:_MOST_LINES]


def _not_recovered(of: Mapping[str, Sequence[ScenarioResult]]) -> list[str]:
    return [
        f"{in_words(one.name)}: {agent} did not recover while it was watched."
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
    return f"{in_words(scenario.name)}: {words.rstrip('.')}."


def _critical(scenarios: Sequence[ScenarioResult]) -> list[str]:
    lines = [one.words for scenario in scenarios for one in scenario.recommendations
             if one.severity == "critical"]  # fmt: skip
    return list(dict.fromkeys(lines))


def _weakest(scenarios: Sequence[ScenarioResult], of_agent: str = "") -> list[str]:
    scored = [
        (one.resilience, in_words(one.name)) for one in scenarios if one.resilience is not None
    ]
    if not scored:
        return []
    lowest, name = min(scored)
    of = f" of {of_agent}" if of_agent else ""
    return [f"The lowest resilience{of} is {amount(lowest)} of 100, in {name}."]


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
