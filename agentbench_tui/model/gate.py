"""Gates, in one small language: `accuracy>=0.8`, `verdict==clean`, `no-regression(accuracy)`."""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.load_figures import VERDICT, VERDICTS, load_figures
from agentbench_tui.model.figures.load_words import SAID
from agentbench_tui.model.figures.metric import (
    SCORES,
    Metric,
    declared_metrics,
    known_metrics,
    regressing_metrics,
)
from agentbench_tui.model.figures.pass_metrics import attempts_of
from agentbench_tui.model.figures.stress_figures import BROKE, TRUTHS
from agentbench_tui.model.kinds import metrics_of_kinds
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from collections.abc import Callable

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
UNANSWERED = Metric(
    "unanswered",
    "requests",
    "lower",
    "Requests that were sent and have no answer: sent - ok - cancelled, so those that failed and "
    "those that were unfinished at the end. What the plan itself broke off is not among them.",
)
"""Count that a CI job requires to be 0: a server that hangs has no failed requests."""
NO_REGRESSION = "no-regression"
"""Used alone, or with metrics in parentheses, which are then the only ones judged: the execution
is not worse than the agent's baseline or history.
"""
_WORDS = {VERDICT: VERDICTS, BROKE: TRUTHS}
"""Gates with words as values, and these words."""
_FORM = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9_.@^-]*)\s*(>=|<=|==|!=|>|<)\s*(\S+)\s*")
_MISSPELLED = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<=", "≠": "!=", "=": "=="}
"""Operators of other languages → ours."""
_PERCENTAGE = re.compile(r"(\d+(?:\.\d*)?)%")
_WITH_UNIT = re.compile(r"-?\d+(?:\.\d*)?\s*([A-Za-zµ/]+)")
_OF_METRICS = re.compile(r"\s*no-regression\s*(?:\(([^()]*)\)\s*)?")


class Gate(msgspec.Struct, frozen=True):
    """A condition for every measured execution."""

    name: str
    """A metric (`e2e_ms.p95`, `pass^4`, that of a scorer by its name, or what an experiment returns
    and its class says which way is better of), a score (`overall`, `speed_score`), a figure of load
    (`cpu_us_per_request`), `verdict`, `broke`, or `no-regression`, which has neither of the
    others."""
    comparison: str
    threshold: float | str
    """A word for the verdict and for `broke`, a number for all others."""
    metrics: tuple[str, ...] = ()
    """For `no-regression`: the metrics to judge; empty for the default ones."""

    def holds(self, value: float | str) -> bool:
        """Return whether the value, of the same type as the threshold, satisfies the gate."""
        return _OPERATORS[self.comparison](value, self.threshold)

    def __str__(self) -> str:
        if self.name == NO_REGRESSION:
            return f"{self.name}({','.join(self.metrics)})" if self.metrics else self.name
        if isinstance(self.threshold, str):
            return f"{self.name}{self.comparison}{self.threshold}"
        return f"{self.name}{self.comparison}{plain(self.threshold, grouped=False)}"


def gate_names() -> tuple[str, ...]:
    """Return every name that a gate may use: metrics, scores as `NAME_score` or `overall`, counts
    of a load and figures of its harness, the verdict, and whether it broke.
    """
    scores = tuple(name if name == "overall" else f"{name}_score" for name in SCORES)
    return (*known_metrics(), *scores, *load_figures(), UNANSWERED.name, VERDICT, BROKE)


def parse_gate(text: str) -> Gate:
    """Parse a gate. Raises UsageError with the reason."""
    regression = _OF_METRICS.fullmatch(text)
    if regression is not None:
        return Gate(NO_REGRESSION, "", "", _judged(text, regression[1]))
    name, comparison, wanted = _parts(text)
    known = {*gate_names(), *declared_metrics(), *metrics_of_kinds()}
    if name not in known and attempts_of(name) is None:
        raise UsageError(
            f"gate {text!r}: unknown metric '{name}'{_nearest(name)}; "
            "`agentbench explain` lists them"
        )
    words = _WORDS.get(name)
    if words is None:
        return Gate(name, comparison, _number(text, wanted))
    return Gate(name, comparison, _word(text, comparison, wanted, words))


def check_form(text: str) -> None:
    """Raise UsageError for an expression that is invalid for any names: those of experiments are
    known only with their suite.
    """
    if _OF_METRICS.fullmatch(text) is None:
        _parts(text)


def _parts(text: str) -> tuple[str, str, str]:
    """Return name, comparison, and threshold. Raises UsageError."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(
            f"gate {text!r}: expected NAME OPERATOR NUMBER, such as accuracy>=0.8 or "
            f"e2e_ms.p95<=1200, or verdict==clean, or {NO_REGRESSION}{_meant(text)}"
        )
    return match[1], match[2], match[3]


def _meant(text: str) -> str:
    """Return a hint for an operator of another language and for a misspelled `no-regression`."""
    for operator_, ours in _MISSPELLED.items():
        name, found, wanted = text.partition(operator_)
        if found and _FORM.fullmatch(meant := f"{name.strip()}{ours}{wanted.strip()}"):
            return f' (did you mean "{meant}"?)'
    return did_you_mean(text.strip(), [NO_REGRESSION])


def _judged(text: str, listed: str | None) -> tuple[str, ...]:
    """Return the metrics in the parentheses of `no-regression`; none without parentheses."""
    if listed is None:
        return ()
    names = [name.strip() for name in listed.split(",")]
    if not all(names):
        raise UsageError(f"gate {text!r}: expected metrics, as in {NO_REGRESSION}(accuracy)")
    try:
        return regressing_metrics(names)
    except UsageError as error:
        raise UsageError(f"gate {text!r}: {error}") from None


def _nearest(name: str) -> str:
    """Return a hint: the names for a table's term, the parts of a metric whose unit or part is
    missing, else the most similar name.
    """
    names = (*gate_names(), *declared_metrics())
    bases = {name, *SAID.get(name, ()), *(f"{name}_{unit}" for unit in ("ms", "per_s", "share"))}
    meant = [one for one in names if one in bases or one.partition(".")[0] in bases]
    return f"; there are {', '.join(meant)}" if meant else did_you_mean(name, names)


def _word(text: str, comparison: str, wanted: str, words: tuple[str, ...]) -> str:
    name = text.partition(comparison)[0].strip()
    if comparison not in {"==", "!="}:
        raise UsageError(f"gate {text!r}: {name} is compared by == or !=, as in {name}=={words[0]}")
    if wanted not in words:
        raise UsageError(
            f"gate {text!r}: no {name} '{wanted}'{did_you_mean(wanted, words)}; "
            f"there are {', '.join(words)}"
        )
    return wanted


def _number(text: str, wanted: str) -> float:
    try:
        number = float(wanted)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"gate {text!r}: '{wanted}' is not a number{_number_meant(wanted)}")
    return number


def _number_meant(wanted: str) -> str:
    """Return how to write a threshold that has a unit."""
    if share := _PERCENTAGE.fullmatch(wanted):
        return f"; write a share, {plain(float(share[1]) / 100)}"
    if _WITH_UNIT.fullmatch(wanted):
        return "; write it without a unit, in that of the metric's name, such as 1200 for e2e_ms"
    return ""
