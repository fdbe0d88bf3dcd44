"""Limits of a service-level objective: which metric each is on, and the share that has to keep it.

`ttft_ms` is kept where at least `SLO_SHARE` of the due requests are within it; `ttft_ms.p95` where
at least 95% are, and `ttft_ms.p999` where 99.9% are. A request that failed is within no limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentbench_tui.model.figures.load_figures import SLO_SHARE

LIMITED = ("ttft_ms", "ttfo_ms", "tpot_ms", "e2e_ms")
"""Metrics that may be limited."""
_PERCENTILE = re.compile(rf"({'|'.join(LIMITED)})\.p([0-9]{{1,3}}(?:\.[0-9]{{1,4}})?)")
_THREE_NINES = "999"


def is_percentile_limit(name: str) -> bool:
    """Return whether a name is that of a percentile of a limited metric, such as `ttft_ms.p95`."""
    return _PERCENTILE.fullmatch(name) is not None and 0 < share_of(name) < 1


def metric_of(name: str) -> str:
    """Return the metric that a limit is on: `ttft_ms` of `ttft_ms.p95`."""
    return name.partition(".")[0]


def share_of(name: str) -> float:
    """Return the share of due requests that has to keep a limit, 0..1."""
    match = _PERCENTILE.fullmatch(name)
    if match is None:
        return SLO_SHARE
    return 0.999 if match[2] == _THREE_NINES else float(match[2]) / 100


def is_joint(names: Iterable[str]) -> bool:
    """Return whether all limits are kept together by the default share, so that goodput tells."""
    return not any("." in name for name in names)
