"""Advice on long inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.advice.window_bounds import figure
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport


def long_inputs_break(report: ScenarioReport) -> Advice | None:
    """Advise when the target fails on inputs shorter than the longest requested ones."""
    for point in report.breaking_points:
        if point.on != "input" or point.fails is None or not point.confirmed:
            continue
        asked = report.observations.get("most_input_tokens")
        of = f", of {asked:,.0f} asked for" if isinstance(asked, int | float) else ""
        first = str(report.observations.get("broke_first", point.reason))
        evidence: dict[str, float | str] = {"fails": point.fails, "broke_first": first}
        orderly = report.observations.get("orderly_refusal")
        if orderly is True:
            return Advice(
                rule="long-inputs-refused",
                severity="info",
                words=f"Inputs from {point.fails:,.0f} tokens on{of} are refused with a message"
                f" ({first}), as they should be. If longer ones are needed, raise that limit.",
                evidence=evidence,
            )
        return Advice(
            rule="long-inputs-break",
            severity="critical" if orderly is False else "warning",
            words=f"Inputs break it at {point.fails:,.0f} tokens{of} ({first}). Refuse what is too"
            " long at once, with 413 or 400 and a message that gives the limit.",
            evidence=evidence,
        )
    return None


def cost_of_length(report: ScenarioReport) -> Advice | None:
    """Report the time that each additional thousand input tokens costs."""
    low = report.observations.get("ms_per_1000_tokens_low")
    slope = report.observations.get("ms_per_1000_tokens")
    high = report.observations.get("ms_per_1000_tokens_high")
    if not (isinstance(low, float) and isinstance(slope, float) and isinstance(high, float)):
        return None
    if low <= 0:
        return None
    return Advice(
        rule="cost-of-length",
        severity="info",
        words=f"Each 1,000 tokens of input cost {figure(slope)} ms [{figure(low)}, {figure(high)}]:"
        " shorter prompts, or a prefix that can be cached, save that.",
        evidence={"ms_per_1000_tokens": slope, "low": low, "high": high},
    )
