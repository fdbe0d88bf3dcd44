"""Computes the share of service that remained, and the recovery time, from windows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.load.resilience import recovery, resilience_score
from agentbench_tui.stress.report import RecoveryFacts, ScoreFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal


def score_of(windows: Sequence[Measured], normal: Normal) -> ScoreFacts | None:
    """Return the resilience over these windows, from the start of the stress to the end of the
    recovery, in pieces of `normal.piece_s`; None without requests.
    """
    cut = [window.seconds(normal.limit_p95_ms, normal.piece_s) for window in windows]
    return score_of_pieces([(piece.good, piece.offered) for piece in cut], normal)


def score_of_pieces(pieces: Sequence[tuple[Floats, Floats]], normal: Normal) -> ScoreFacts | None:
    """Return the resilience from good answers and requests per second, by pieces of
    `normal.piece_s`.
    """
    good = np.concatenate([part for part, _ in pieces] or [np.empty(0)])
    offered = np.concatenate([part for _, part in pieces] or [np.empty(0)])
    found = resilience_score(good, offered, normal.capacity)
    if found is None:
        return None
    return ScoreFacts(
        value=found.score,
        low=None if found.interval is None else found.interval.low,
        high=None if found.interval is None else found.interval.high,
        no_interval=found.reason,
        worst_second=found.worst,
        piece_s=normal.piece_s,
        windows=found.windows,
    )


def recovered(
    after: str,
    window: Measured,
    normal: Normal,
    *,
    from_s: float = 0.0,
    until_s: float = math.inf,
) -> RecoveryFacts:
    """Return the recovery time from `from_s`, where the stress called `after` ended, to the first
    of five consecutive pieces of `normal.piece_s` whose good answers are as many as the baseline
    predicts.

    Between `from_s` and `until_s` the load must be the normal one.
    """
    pieces = _good(window, normal)
    first, last = math.ceil(from_s / normal.piece_s - 1e-9), _whole(until_s, normal.piece_s)
    seen = pieces[first : None if last is None else last]
    found = recovery(
        _good(normal.baseline, normal),
        seen,
        window_s=normal.piece_s,
        resolution=1 / normal.piece_s,
    )
    lost_s = first * normal.piece_s - from_s
    return RecoveryFacts(
        after=after,
        seconds=None if found.after_s is None else found.after_s + lost_s * (found.after_s > 0),
        known=found.known,
        watched_s=found.watched_s,
        words=found.words,
    )


def _good(window: Measured, normal: Normal) -> Floats:
    return window.seconds(normal.limit_p95_ms, normal.piece_s).good


def _whole(until_s: float, piece_s: float) -> int | None:
    return math.floor(until_s / piece_s + 1e-9) if math.isfinite(until_s) else None
