"""Recommendations for a scenario's findings: rules over its report, each with the numbers behind
it.

A rule is a function of one report that returns a recommendation or nothing. It uses confidence
bounds, never a figure that may be due to chance, and returns nothing if its data are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.stress.advice import (
    capacity_rules,
    failure_rules,
    input_rules,
    memory_rules,
    overload_rules,
    refusal_rules,
)
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport

Rule = Callable[["ScenarioReport"], Advice | None]

RULES: tuple[Rule, ...] = (
    overload_rules.target_lost,
    overload_rules.no_recovery,
    overload_rules.keeps_refusing,
    failure_rules.failure_not_survived,
    capacity_rules.errors_at_normal_load,
    capacity_rules.refusals_at_normal_load,
    overload_rules.congestion_collapse,
    refusal_rules.retry_after_not_kept,
    refusal_rules.refusals_not_honoured,
    refusal_rules.timeouts_instead_of_refusals,
    refusal_rules.resets_instead_of_refusals,
    refusal_rules.answers_too_late,
    refusal_rules.refusals_without_retry_after,
    failure_rules.broken_connections_passed_on,
    overload_rules.slow_recovery,
    overload_rules.less_than_before,
    memory_rules.ended_under_pressure,
    memory_rules.memory_leak,
    memory_rules.memory_not_given_back,
    input_rules.long_inputs_break,
    capacity_rules.processor_bound,
    capacity_rules.queueing_while_idle,
    capacity_rules.coherency_limit,
    capacity_rules.contention_limit,
    input_rules.cost_of_length,
    capacity_rules.unclear_search,
    capacity_rules.sender_limit,
)
_SAID_BY = {"memory-not-given-back": "memory-leak"}
"""Rules whose recommendation is included in that of another rule."""
_ORDER = {"critical": 0, "warning": 1, "info": 2}


def advise(reports: Iterable[ScenarioReport]) -> list[Advice]:
    """Return the recommendations for one scenario or for all, each rule once, most severe first.

    If a rule applies several times, the more severe result is kept, then the first; `scenario` in
    its evidence names the scenario.
    """
    found: dict[str, Advice] = {}
    for report in reports:
        for rule in RULES:
            advice = rule(report)
            if advice is None:
                continue
            known = found.get(advice.rule)
            if known is None or _ORDER[advice.severity] < _ORDER[known.severity]:
                evidence = {**advice.evidence, "scenario": report.scenario}
                found[advice.rule] = msgspec.structs.replace(advice, evidence=evidence)
    for part, whole in _SAID_BY.items():
        if whole in found:
            found.pop(part, None)
    return sorted(found.values(), key=lambda advice: _ORDER[advice.severity])
