"""Values of `agentbench load` on the command line: times, rates, shapes, lengths, limits."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from agentbench_tui.load.slo import is_percentile_limit
from agentbench_tui.model.errors import did_you_mean

_UNITS_S = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_TIME = rf"{_NUMBER}(?:ms|s|min|m|h)?"
_LIMITS = ("ttft_ms", "ttfo_ms", "tpot_ms", "e2e_ms")
"""Metrics that an SLO may limit, as in `load.spec.SloSpec`."""


class _Value(click.ParamType):  # type: ignore[type-arg]  # generic in click's newest only
    """A value parsed by one regular expression."""

    form: re.Pattern[str]
    expected: str

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the text. Raises a usage error."""
        if not isinstance(value, str):
            return value  # a default
        match = self.form.fullmatch(value.strip())
        found = None if match is None else self.read(match)
        if found is None:
            self.fail(f"{value!r}: expected {self.expected}", param, ctx)
        return found

    def read(self, match: re.Match[str]) -> Any:
        """Return the value; None if it is invalid."""
        raise NotImplementedError


class Time(_Value):
    """A time in seconds: `30s`, `2m`, `500ms`, `1h`; without a unit, seconds."""

    name = "time"
    form = re.compile(_TIME)
    expected = "a time, such as 30s, 2m or 500ms"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def read(self, match: re.Match[str]) -> float | None:
        seconds = _seconds(match[0])
        return seconds if seconds > 0 or self._zero else None


class Rates(_Value):
    """One rate, or several to sweep: `50`, `10,20,50`."""

    name = "rates"
    form = re.compile(rf"{_NUMBER}(?:\s*,\s*{_NUMBER})*")
    expected = "requests a second, such as 50, or several to sweep, such as 10,20,50"

    def read(self, match: re.Match[str]) -> list[float] | None:
        rates = [float(one) for one in match[0].split(",")]
        return list(dict.fromkeys(map(_whole, rates))) if all(rates) else None


class Users(_Value):
    """One number of users, or several to sweep: `8`, `1,4,16`."""

    name = "users"
    form = re.compile(r"[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*")
    expected = "a number of users, such as 8, or several to sweep, such as 1,4,16"

    def read(self, match: re.Match[str]) -> list[int] | None:
        users = [int(one) for one in match[0].split(",")]
        return list(dict.fromkeys(users)) if all(users) else None


class Ramp(_Value):
    """`10..100/30s`: a linear change from one rate to another within a time."""

    name = "ramp"
    form = re.compile(rf"({_NUMBER})\.\.({_NUMBER})/({_TIME})")
    expected = "FROM..TO/TIME, such as 10..100/30s"

    def read(self, match: re.Match[str]) -> dict[str, float]:
        start, end, over = match.groups()
        return {"start": _number(start), "end": _number(end), "over_s": _seconds(over)}


class Steps(_Value):
    """`10x30s,20x30s`: one rate after another."""

    name = "steps"
    form = re.compile(rf"{_NUMBER}x{_TIME}(?:\s*,\s*{_NUMBER}x{_TIME})*")
    expected = "RATExTIME,…, such as 10x30s,20x30s"

    def read(self, match: re.Match[str]) -> list[dict[str, float]]:
        steps = [one.strip().split("x") for one in match[0].split(",")]
        return [{"rate": _number(rate), "for_s": _seconds(time)} for rate, time in steps]


class Spike(_Value):
    """`10..100@10s/5s`: base rate, peak rate, start and length of the peak."""

    name = "spike"
    form = re.compile(rf"({_NUMBER})\.\.({_NUMBER})@({_TIME})/({_TIME})")
    expected = "RATE..PEAK@START/TIME, such as 10..100@10s/5s"

    def read(self, match: re.Match[str]) -> dict[str, float]:
        rate, peak, at, length = match.groups()
        return {
            "rate": _number(rate),
            "peak": _number(peak),
            "at_s": _seconds(at),
            "for_s": _seconds(length),
        }


class Sine(_Value):
    """`20±10/60s` (or `20+-10/60s`): a rate that oscillates around its mean with this period."""

    name = "sine"
    form = re.compile(rf"({_NUMBER})(?:±|\+-)({_NUMBER})/({_TIME})")
    expected = "MEAN±AMPLITUDE/PERIOD, such as 20±10/60s (± may be written +-)"

    def read(self, match: re.Match[str]) -> dict[str, float]:
        mean, amplitude, period = match.groups()
        return {
            "mean": _number(mean),
            "amplitude": _number(amplitude),
            "period_s": _seconds(period),
        }


class Length(_Value):
    """A number of tokens, `512`, or a mean and its standard deviation, `512±64` (or `512+-64`)."""

    name = "tokens"
    form = re.compile(r"([0-9]{1,15})(?:(?:±|\+-)([0-9]{1,15}))?")
    expected = "a number of tokens, such as 512, or MEAN±SPREAD, such as 512±64"

    def read(self, match: re.Match[str]) -> int | dict[str, float]:
        mean, spread = match.groups()
        return int(mean) if spread is None else {"mean": int(mean), "spread": float(spread)}


class Slo(_Value):
    """`ttft_ms=200`: a limit that a good request meets."""

    name = "limit"
    form = re.compile(
        rf"\s*(\w+)(?:\.p({_NUMBER}))?\s*(?:=|<=?)\s*({_NUMBER})\s*(ms|s)?\s*"
        rf"(?:@\s*({_NUMBER})\s*%)?\s*"
    )
    expected = (
        "NAME[.pNN]=MILLISECONDS, such as ttft_ms=200, ttft_ms.p95=200 or, which is the same, "
        "ttft_ms=200@95%"
    )

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        base = found[0].partition(".")[0] if isinstance(found, tuple) else None
        if base is not None and base not in _LIMITS:
            hint = did_you_mean(base, _LIMITS) or f"; there are {', '.join(_LIMITS)}"
            self.fail(f"{value!r}: no limit '{base}'{hint}", param, ctx)
        return found

    def read(self, match: re.Match[str]) -> tuple[str, float] | None:
        name, percentile, number, unit, share = match.groups()
        if percentile is not None and share is not None:
            return None
        if f"{name}_ms" in _LIMITS:
            name = f"{name}_ms"
        limit = _whole(float(number) * (1000 if unit == "s" else 1))
        percent = percentile or share
        if percent is None:
            return name, limit
        key = f"{name}.p{percent}"
        return (key, limit) if is_percentile_limit(key) or name not in _LIMITS else None


class Field(_Value):
    """`input=question`: a field of a request, and its path in the record."""

    name = "field"
    form = re.compile(r"\s*([^=\s][^=]*?)\s*=\s*(\S.*?)\s*", re.DOTALL)
    expected = "FIELD=PATH, such as input=question"

    def read(self, match: re.Match[str]) -> tuple[str, str]:
        return match[1], match[2]


def _seconds(text: str) -> float:
    number = re.match(_NUMBER, text)
    assert number is not None  # the form has it
    return _whole(float(number[0]) * _UNITS_S[text[number.end() :]])


def _number(text: str) -> float:
    return _whole(float(text))


def _whole(value: float) -> float:
    """Return a whole number without a decimal point, so that printed suites look hand-written."""
    return int(value) if math.isfinite(value) and value == int(value) else value
