"""Sentences about a stress test: where the target failed, how resilient it was, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.model.text.plain_number import counted, with_unit
from agentbench_tui.presentation.numbers import (
    MISSING,
    Show,
    amount,
    chosen_duration,
    chosen_percent,
    count,
    duration,
    duration_s,
    percent,
    size,
    with_interval,
)
from agentbench_tui.verdicts.stress.stress_levels import level_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.stress import (
        AgentStress,
        NormalLevel,
        ScenarioResult,
        StressBreakingPoint,
        StressLimits,
        StressRecovery,
        StressScaling,
        StressTrend,
        StressWindow,
    )

_SEVERITIES = ("critical", "warning", "info")
"""Severities from the worst; recommendations are listed in this order."""
_LAWS = {
    "linear": "linear",
    "amdahl": "Amdahl's law",
    "usl": "Universal Scalability Law (USL)",
}
"""Model of a fit → its name in prose."""
_WHAT = {"rate": "rate", "concurrency": "users", "input": "input"}


def headline(scenario: ScenarioResult) -> str:
    """Summarize a scenario: whether and where the target failed, its resilience and recovery."""
    return f"{scenario.name}: {outcome_words(scenario)}"


def outcome_words(scenario: ScenarioResult) -> str:
    """Summarize what a scenario found, never with nothing: `resilience 46 · recovered at once`."""
    words = [
        _status(scenario),
        breaking_words(scenario),
        _score(scenario),
        recovery_words(scenario) if scenario.resilience is not None else "",
    ]
    return " · ".join(word for word in words if word) or "no score"


def in_words(name: str | None) -> str:
    """Return the name of a scenario as prose has it: `high load` of `high_load`."""
    return str(name).replace("_", " ")


class Detail(NamedTuple):
    """What is known of one aspect of a scenario."""

    label: str
    """The aspect, such as `normal`; empty if the words name it."""
    words: str
    is_missing: bool = False
    """Whether the words say why it is not known."""

    def line(self) -> str:
        """Return both in one line: `normal: 42 requests/s …`, `– memory: …` if it is missing."""
        mark = f"{MISSING} " if self.is_missing else ""
        return f"{mark}{self.label}: {self.words}" if self.label else f"{mark}{self.words}"


def details(scenario: ScenarioResult) -> list[Detail]:
    """Return the details below the headline, without the recommendations."""
    found = [
        Detail("normal", _normal(scenario.normal)),
        Detail("limits", _limits(scenario.limits)),
        *(Detail(_WHAT[one.on], _bracket(one)) for one in scenario.breaking_points),
        *(Detail("unclear", words) for words in _unclear(scenario)),
        Detail("limit", _limit_met(scenario)),
        Detail("Retry-After", _waited(scenario)),
        Detail("memory", str(scenario.observations.get("memory_words", ""))),
        Detail("ballast", _ballast(scenario)),
        Detail(_scaled_second(scenario), _worst_second(scenario)),
        Detail("resilience", scenario.resilience_words or ""),
        *(Detail(f"after {one.after}", _recovery(one)) for one in scenario.recoveries),
        *map(_trend, scenario.trends),
        Detail("scaling", scaling_words(scenario.scaling)),
        Detail("", _sender(scenario.windows)),
        *(Detail(what, why, is_missing=True) for what, why in scenario.missing.items()),
    ]
    return [one for one in found if one.words]


class GradedAdvice(NamedTuple):
    """One recommendation, with the scenarios that lead to it."""

    severity: str
    words: str

    def line(self) -> str:
        """Return both in one line."""
        return f"{self.severity}: {self.words}"


def graded_advice(
    scenarios: Sequence[ScenarioResult], *, in_prose: bool = False
) -> list[GradedAdvice]:
    """Return the recommendations, most severe first, each once with all its scenarios.

    `in_prose` names the scenarios in words, for readers who do not type their ids.
    """
    places: dict[tuple[str, str], list[str]] = {}
    for scenario in scenarios:
        for one in scenario.recommendations:
            named = places.setdefault((one.severity, one.words), [])
            if scenario.name is not None and scenario.name not in named:
                named.append(scenario.name)
    order = {name: place for place, name in enumerate(_SEVERITIES)}
    graded = sorted(places.items(), key=lambda item: order.get(item[0][0], len(order)))
    show = in_words if in_prose else str
    return [
        GradedAdvice(severity, f"{words} ({', '.join(map(show, named))})")
        for (severity, words), named in graded
    ]


def window_line(window: StressWindow) -> str:
    """Describe one window: purpose, load, result, and the verdict on its level."""
    words = [" ".join(filter(None, (window.phase, *_load_words(window))))]
    if window.requests:
        good = round(window.requests * (1 - (window.error_share or 0)))
        words.append(f"{good:,} of {window.requests:,} answered")
    if window.p95_ms is not None:
        words.append(f"p95 {duration(window.p95_ms)}")
    verdict = window.verdict
    if verdict is not None:
        why = f" ({window.reason})" if verdict == "fail" and window.reason else ""
        words.append("not clear yet" if verdict == "extend" else f"{verdict}{why}")
    if window.sender_limit:
        words.append("the sender was the limit")
    return ", ".join(words)


def scaling_words(scaling: StressScaling | None) -> str:
    """The law over users, and with how many throughput is highest; empty without one."""
    if scaling is None:
        return ""
    if scaling.sigma_interval is None:  # the law does not hold, so its numbers mean nothing
        return str(scaling.words)
    law = f"one user λ {amount(scaling.lambda_per_s)}/s"
    law += f", waiting σ {_among(scaling.sigma, scaling.sigma_interval)}"
    law += f", agreeing κ {_among(scaling.kappa, scaling.kappa_interval)}"
    star = scaling.n_star
    peak = ""
    if star is not None:
        peak = f"; N* {_among(star, scaling.n_star_interval)} users"
        if scaling.peak is not None:
            peak += f", {amount(scaling.peak)} requests/s there"
    words = f"; {scaling.words}" if scaling.words else ""
    return f"{law_name(scaling)}: {law}{peak}{words}"


def law_name(scaling: StressScaling) -> str:
    """Return the name of the fitted law, as prose has it."""
    return _LAWS.get(scaling.model, scaling.model)


def standing_line(agent: AgentStress) -> str:
    """Describe the score over scenarios, the worst by name, and those without a score."""
    run = {one.name for one in agent.scenarios}
    missing = agent.missing
    unscored = [name for name in missing if name in run]
    lacking = f"; no score: {', '.join(unscored)}" if unscored else ""
    if len(missing) > len(unscored):
        lacking += f"; {len(missing) - len(unscored)} not run"
    if agent.resilience_score is None:
        return f"resilience {MISSING}{lacking}"
    scores = [(one.name, one.resilience) for one in agent.scenarios if one.resilience is not None]
    scored = {name for name, _ in scores}
    all_of_them = counted(len(scored) + len(missing), "scenario")
    of = f"{len(scored)} of {all_of_them}" if missing else all_of_them
    lowest = min(score for name, score in scores if name == agent.worst)
    mean = f"resilience {amount(agent.resilience_score)} of 100 (geometric mean of {of})"
    return f"{mean}; worst: {agent.worst} {amount(lowest)}{lacking}"


def scale_line(agent: AgentStress) -> str:
    """Describe the time scale; empty at full length."""
    scale = agent.time_scale
    if scale is None or scale == 1:
        return ""
    return f"every duration × {scale:g} (time scale); limits are not scaled"


def _load_words(window: StressWindow) -> list[str]:
    asked, users, tokens = window.asked_per_s, window.users, window.input_tokens
    return [
        "" if tokens is None else f"{tokens:,} tokens",
        "" if asked is None else f"{amount(asked)}/s",
        "" if users is None else counted(users, "user"),
    ]


def _status(scenario: ScenarioResult) -> str:
    status, reason = scenario.status, scenario.reason
    if status == "complete":
        return ""
    return f"{status}: {reason}" if reason and reason != status else str(status)


def breaking_words(scenario: ScenarioResult) -> str:
    """Return whether and where the target failed; empty if the scenario did not search for it."""
    point = scenario.breaking_point
    if point is None:
        return ""
    unit = f" {point.unit}" if point.unit else ""
    if point.fails is None:
        if point.passes is None:
            return f"no level of {point.on} passed or failed clearly"
        return f"did not break: passes up to {amount(point.passes)}{unit}"
    what = f" ({', '.join(point.broke)})" if point.broke else ""
    if point.passes is None:
        return f"breaks below {amount(point.fails)}{unit}{what}"
    between = f"{amount(point.passes)} and {amount(point.fails)}"
    return f"breaks between {between}{unit}{what}"


def _score(scenario: ScenarioResult) -> str:
    value = scenario.resilience
    if value is None:
        return ""
    return f"resilience {_among(value, scenario.interval, count)}"


def recovery_words(scenario: ScenarioResult) -> str:
    """Return how soon the target recovered; empty if the scenario did not overload it."""
    recoveries = scenario.recoveries
    if not recoveries:
        return ""
    if scenario.recovery_s is not None:
        after = "" if scenario.recovery_s == 0 else "after "
        return f"recovered {after}{recovery_cell(scenario)}"
    late = not_recovered_from(scenario)
    return f"not recovered from {', '.join(late)}" if late else "recovery not known"


def not_recovered_from(scenario: ScenarioResult) -> list[str]:
    """Return the overloads that the target did not recover from while it was watched long enough
    to tell.
    """
    open_ones = [one for one in scenario.recoveries if one.seconds is None]
    return [one.after for one in open_ones if one.known]


def recovery_cell(scenario: ScenarioResult) -> str:
    """Return `recovery_words` as short as a column called recovery allows: `600 ms`, `at once`,
    `not recovered`, `not known`, or – if the scenario had nothing to recover from.
    """
    if not scenario.recoveries:
        return MISSING
    seconds = scenario.recovery_s
    if seconds is not None:
        return "at once" if seconds == 0 else duration_s(seconds)
    return "not recovered" if not_recovered_from(scenario) else "not known"


def _normal(normal: NormalLevel | None) -> str:
    if normal is None:
        return ""
    times = f"p50 {duration(normal.p50_ms)}, p95 {duration(normal.p95_ms)}"
    how = "" if normal.measured else " (as specified, not measured)"
    best = f"highest throughput while finding this load {amount(normal.capacity_per_s)}/s"
    load = f"{amount(normal.rate_per_s)} requests/s, {counted(normal.users, 'user')}"
    return f"{load}, {times}{how}; {best}"


def _limits(limits: StressLimits | None) -> str:
    if limits is None:
        return ""
    derived = " (3 × that at normal load)" if limits.derived else ""
    return (
        f"errors {chosen_percent(limits.error_share)}, p95 {duration(limits.p95_ms)}"
        f"{derived}, {chosen_percent(limits.completed_share)} completed in time"
    )


def _bracket(point: StressBreakingPoint) -> str:
    """The sentence of a search, and that what had passed passed again: when it did not, the
    sentence says so itself."""
    tries = ((point.hysteresis, "after an overload"), (point.drift, "at the end"))
    held = [words for is_worse, words in tries if is_worse is False]
    again = f"; passes again {' and '.join(held)}" if held and point.passes is not None else ""
    return f"{point.words}{again}"


def _unclear(scenario: ScenarioResult) -> list[str]:
    """Say why each level between the last that passes and the first that fails has no verdict."""
    found = []
    for point in scenario.breaking_points:
        for level in point.unclear:
            windows = [one for one in scenario.windows if level_of(one, point.on) == level]
            reasons = [one.reason for one in windows if one.verdict == "unclear" and one.reason]
            why = reasons[-1] if reasons else "its repeats disagree"
            if reasons and not any(one.sender_limit for one in windows):
                why += "; the interval includes the limit"
            found.append(f"{amount(level)} {point.unit}: {why}")
    return found


def _limit_met(scenario: ScenarioResult) -> str:
    """Describe where rate_limiting found a limit, how the target refused, and its behavior above
    the limit.
    """
    met, goodput = scenario.observed("limit_met_per_s"), scenario.observed("goodput_per_s")
    if met is None or goodput is None:
        return ""
    asked = amount(scenario.observed("overload_per_s"))
    above = f"of {asked}/s offered {amount(goodput)}/s are completed"
    return f"met at {amount(met)} requests/s, by {scenario.observations['limit_met_by']}; {above}"


def _waited(scenario: ScenarioResult) -> str:
    """Describe, for rate_limiting, the clients that waited for `Retry-After` after the overload."""
    waited = scenario.observed("quiet_waited")
    served = scenario.observed("quiet_served_after_wait")
    if not waited or served is None:
        return ""
    who = f"of {count(waited)} that waited for Retry-After after the overload"
    return f"{who} {count(served)} got in"


def _ballast(scenario: ScenarioResult) -> str:
    """Describe, for memory_pressure, the memory taken from the machine."""
    taken, left = scenario.observed("ballast_mb"), scenario.observed("left_beside_ballast_mb")
    if taken is None or left is None:
        return ""
    return f"{size(taken)} taken from the machine, {size(left)} left available"


def _scaled_second(scenario: ScenarioResult) -> str:
    piece_s = scenario.piece_s
    return "worst second" if piece_s in {None, 1} else f"worst {chosen_duration(piece_s)}"


def _worst_second(scenario: ScenarioResult) -> str:
    worst = scenario.worst_second
    if worst is None:
        return ""
    due = "of the requests due (or of the target's capacity if that is less)"
    return f"{percent(worst)} {due} answered right within the limits"


def _recovery(one: StressRecovery) -> str:
    if one.words:
        return str(one.words)
    if not one.known:
        return f"not known: only {duration_s(one.watched_s)} were watched"
    if one.seconds is None:
        return f"not recovered within {duration_s(one.watched_s)}"
    return f"recovered after {duration_s(one.seconds)}"


def _trend(one: StressTrend) -> Detail:
    if one.words:  # a sentence about it, which names it
        return Detail("", one.words)
    slope = with_interval(one.per_hour, one.low, one.high, amount)
    return Detail(one.of, f"{one.direction}, {with_unit(slope, one.unit)} an hour")


def _sender(windows: Sequence[StressWindow]) -> str:
    """Say how often the senders, not the target, reached their limit."""
    limited = [one for one in windows if one.sender_limit]
    if not limited:
        return ""
    first = limited[0].sender_limit
    return f"in {len(limited)} of {len(windows)} windows the sender was the limit: {first}"


def _among(value: float, interval: tuple[float, float] | None, show: Show = amount) -> str:
    low, high = (None, None) if interval is None else interval
    return with_interval(value, low, high, show)
