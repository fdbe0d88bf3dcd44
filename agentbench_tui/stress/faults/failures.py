"""Faults by name, and their severity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.model.errors import did_you_mean
from agentbench_tui.stress.faults.fault import (
    Bandwidth,
    BlackHole,
    Cut,
    ErrorReply,
    Jitter,
    Kind,
    Latency,
    Refuse,
    RequestKind,
    Reset,
    SlowHeaders,
    Stall,
    Truncation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CUT_AFTER_BYTES = 200
"""In the head of an answer, or right after it."""
TRUNCATED_AFTER_BYTES = 20
_LEAST_DELAY_MS = 1.0
_LEAST_BYTES_PER_S = 1000.0
_HEAD_BYTES = 400
"""Maximum size of an answer's head, as servers write them."""


class Ease(NamedTuple):
    """The target at normal load, which determines the severity of faults."""

    room_ms: float
    """Between p95 of its latency and the limit on that."""
    bytes_per_s: float
    """From the target to its clients."""


def _delay_ms(ease: Ease) -> float:
    return max(ease.room_ms / 2, _LEAST_DELAY_MS)


BY_PROXY: dict[str, Callable[[Ease], tuple[Kind, ...]]] = {
    "error_reply": lambda _: (ErrorReply(503),),
    "reset": lambda _: (Reset(),),
    "cut": lambda _: (Cut(CUT_AFTER_BYTES),),
    "truncation": lambda _: (Truncation(TRUNCATED_AFTER_BYTES),),
    "refuse": lambda _: (Reset(), Refuse()),
    "black_hole": lambda _: (BlackHole(),),
    "stall": lambda _: (Stall(),),
    "latency": lambda ease: (Latency(_delay_ms(ease)),),
    "jitter": lambda ease: (Jitter(_delay_ms(ease)),),
    "slow_headers": lambda ease: (SlowHeaders(_delay_ms(ease) / _HEAD_BYTES),),
    "bandwidth": lambda ease: (Bandwidth(max(ease.bytes_per_s / 2, _LEAST_BYTES_PER_S)),),
}
"""Name → the proxy's action.

Delays are half of the room below the p95 limit, so that a robust target stays within it; a limited
bandwidth is half of what normal load needs. Refusing new connections also drops open ones, like a
server that has ended.
"""

STOP = "stop"
KILL = "kill"
BY_PROCESS: dict[str, str] = {
    STOP: "all processes of the target are stopped (SIGSTOP), and go on (SIGCONT)",
    KILL: "all processes of the target are killed (SIGKILL), and started again",
}
NAMES = (*BY_PROXY, *BY_PROCESS)

PASSING = frozenset({"latency", "jitter", "slow_headers"})
"""Faults that only delay requests and answers.

All others keep the target from being reached or heard while they last.
"""


def name_problems(names: Iterable[str]) -> list[str]:
    """Return the problems with the names of a suite's `faults`, one line each."""
    return [
        f'no fault "{name}"{did_you_mean(name, NAMES)}: {", ".join(NAMES)}'
        for name in names
        if name not in NAMES
    ]


def needs_http(name: str) -> bool:
    """Return whether the proxy must parse requests for it, which requires plain HTTP."""
    if name not in BY_PROXY:
        return False
    return any(isinstance(kind, RequestKind) for kind in BY_PROXY[name](Ease(1.0, 1.0)))
