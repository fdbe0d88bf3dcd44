"""Options of the practice server, for its command line and for `mock?…` targets.

Each option is a field of `MockOptions` that parses itself from text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.text.plain_number import plain

DISTRIBUTIONS = ("const", "lognormal", "bimodal")
MOST_TOKENS = 1_000_000
_UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?")
_LONGEST_NS = 86_400 * 1_000_000_000


def duration_ns(text: str) -> int:
    """Parse `50ms`, `2s` or `250us` into nanoseconds. Raises ValueError."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or (match[2] is None and float(match[1]) > 0):
        raise ValueError(
            f"`{text}` is not a duration: write a number and a unit (us, ms, s), such as 50ms"
        )
    nanoseconds = round(float(match[1]) * _UNITS_NS[match[2] or "ns"])
    if nanoseconds > _LONGEST_NS:
        raise ValueError(f"`{text}` is longer than a day")
    return nanoseconds


def _stall(text: str) -> tuple[int, int]:
    """Parse `2s/10s` into nanoseconds."""
    length, slash, period = text.partition("/")
    if not slash:
        raise ValueError(f"`{text}`: write how long, a slash, and how often, such as 2s/10s")
    both = duration_ns(length), duration_ns(period)
    if not 0 < both[0] < both[1]:
        raise ValueError(f"`{text}`: a stall lasts more than 0 and less than its period")
    return both


def _rate(text: str) -> float:
    """Parse requests per second, with or without `/s`."""
    return _number(text.removesuffix("/s"), 1e-3, 1e7)


def _number(text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"`{text}` is not a number") from None
    if not least <= value <= most:
        raise ValueError(f"{text} is not between {plain(least)} and {plain(most)}")
    return value


def _share(text: str) -> float:
    return _number(text, 0, 1)


def _factor(text: str) -> float:
    return _number(text, 0, 1000)


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"`{text}` is not a whole number") from None
        if not least <= value <= most:
            raise ValueError(f"{text} is not between {least} and {most}")
        return value

    return read


def _distribution(text: str) -> str:
    if text not in DISTRIBUTIONS:
        near = did_you_mean(text, DISTRIBUTIONS)
        raise ValueError(f"no distribution `{text}`{near}: {', '.join(DISTRIBUTIONS)}")
    return text


def _switch(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(f"`{text}` is neither true nor false")
    return text == "true"


def _option(
    default: Any, read: Callable[[str], Any], unit: str, words: str, shown: str | None = None
) -> Any:
    """Define an option that `read` parses from text. `shown` is its default, as typed."""
    metadata = {"read": read, "unit": unit, "help": words, "shown": shown}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class MockOptions:
    """Behavior of the server.

    Durations are nanoseconds. Raises ValueError for conflicting options.
    """

    ttft: int = _option(
        50_000_000, duration_ns, "TIME", "Time from a request to its first token.", "50ms"
    )
    ttft_dist: str = _option(
        "const", _distribution, "NAME",
        "Distribution of the time to first token: const, lognormal (median --ttft) or bimodal "
        "(most requests at --ttft, some at --slow-factor times it).", "const",
    )  # fmt: skip
    itl: int = _option(10_000_000, duration_ns, "TIME", "Time between two tokens.", "10ms")
    itl_dist: str = _option(
        "const",
        _distribution,
        "NAME",
        "Distribution of the time between tokens, as for --ttft-dist.",
        "const",
    )
    sigma: float = _option(0.5, _factor, "X", "Sigma of a lognormal distribution.", "0.5")
    slow_share: float = _option(
        0.1, _share, "P", "Share of slow values in a bimodal distribution.", "0.1"
    )
    slow_factor: float = _option(
        5.0, _factor, "X", "Factor by which slow values of a bimodal distribution are longer.", "5"
    )
    tokens: int = _option(
        32, _whole(1, MOST_TOKENS), "N",
        "Tokens in an answer, including reasoning, unless the request sets max_tokens.", "32",
    )  # fmt: skip
    chunk_tokens: int = _option(1, _whole(1, MOST_TOKENS), "N", "Tokens in a streamed chunk.", "1")
    reasoning_tokens: int = _option(
        0, _whole(0, MOST_TOKENS), "N", "Number of --tokens that are reasoning tokens.", "0"
    )
    error_rate: float = _option(0.0, _share, "P", "Share of requests answered with HTTP 500.", "0")
    cut_rate: float = _option(0.0, _share, "P", "Share of answers cut off in the middle.", "0")
    rate_limit: float | None = _option(
        None,
        _rate,
        "R/s",
        "Requests per second above which the server answers with HTTP 429.",
        "no limit",
    )
    retry_after: int = _option(
        1_000_000_000, duration_ns, "TIME", "Retry-After value of the HTTP 429 answers.", "1s"
    )
    stall: tuple[int, int] | None = _option(
        None, _stall, "TIME/PERIOD",
        "Freeze the whole server for TIME in the middle of every PERIOD, counted from the first "
        "request.", "never",
    )  # fmt: skip
    slots: int | None = _option(
        None, _whole(1, 1_000_000), "N",
        "Number of requests served at once; others wait in a first-in, first-out queue.",
        "no limit",
    )  # fmt: skip
    service_time: int = _option(
        0, duration_ns, "TIME",
        "How long a request occupies its slot.", "until its answer ends",
    )  # fmt: skip
    tool_calls: bool = _option(
        False,
        _switch,
        "",
        "Answer a user turn with a call of the first tool, if the request offers tools.",
    )
    prefix_cache: bool = _option(
        False,
        _switch,
        "",
        "Count prompt tokens as cached if an earlier prompt had the same prefix.",
    )
    model: str = _option("mock", str, "NAME", "Name of the model.", "mock")
    seed: int = _option(42, _whole(0, 2**63 - 1), "N", "Seed of all random values.", "42")

    def __post_init__(self) -> None:
        if self.reasoning_tokens >= self.tokens:
            raise ValueError("reasoning-tokens: fewer than tokens, which they are a part of")
        if self.service_time and self.slots is None:
            raise ValueError("service-time: only with slots, which it holds")

    def plain(self) -> dict[str, Any]:
        """Return the options as JSON-compatible values."""
        return asdict(self)


def from_plain(values: Mapping[str, Any]) -> MockOptions:
    """Return options from the result of `plain`."""
    stall = values.get("stall")
    return MockOptions(**{**values, "stall": tuple(stall) if stall else None})


def option_fields() -> tuple[Field[Any], ...]:
    """Return the fields, each with `read`, `unit` (empty: a switch) and `help` in its metadata."""
    return fields(MockOptions)


def read_options(given: Mapping[str, Any]) -> MockOptions:
    """Return options from text by name, with `-` or `_`. Raises UsageError with one line."""
    known = {one.name: one for one in option_fields()}
    values: dict[str, Any] = {}
    for name, value in given.items():
        one = known.get(name.replace("-", "_"))
        if one is None:
            spelled = [name.replace("_", "-") for name in known]
            near = did_you_mean(name.replace("_", "-"), spelled)
            raise UsageError(f"no option `{name}`{near or '; known are ' + ', '.join(spelled)}")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            values[one.name] = one.metadata["read"](text)
        except ValueError as error:
            raise UsageError(f"option `{name}`: {error}") from None
    try:
        return MockOptions(**values)
    except ValueError as error:
        raise UsageError(str(error)) from None
