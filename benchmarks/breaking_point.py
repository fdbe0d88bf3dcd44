"""How near the truth the breaking-point search comes, on simulated servers of known capacity.

    python benchmarks/breaking_point.py [--seed 1] [--searches 20] [--server NAME]

Each search climbs in windows of 30 s after 5 s of warm-up, with limits of 1% errors and a p95 of
300 ms. `middle` and `ends` count brackets whose middle, and of which both ends, lie within 10% of
the truth; the three figures of `stable` count yes, no, unknown. Nothing is waited for: the clock is
simulated.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter

import numpy as np
from synthetic_servers import SERVERS, Server, run

from agentbench_tui.stress.search.breaking_point import Search

NEAR = 1.10


def near(level: float | None, truth: float) -> bool:
    return level is not None and truth / NEAR <= level <= truth * NEAR


def line(kind: type[Server], searches: int, seed: int) -> str:
    found = []
    for number in range(searches):
        server = kind(np.random.default_rng([seed, number]))
        found.append(run(server, Search(kind.axis)))
    right = sum(near(one.middle, kind.truth) for one in found)
    ends = sum(near(one.passes, kind.truth) and near(one.fails, kind.truth) for one in found)
    middles = [one.middle for one in found if one.middle is not None]
    low, middle, high = np.quantile(middles, [0, 0.5, 1]) if middles else (math.nan,) * 3
    statuses = [one.status for one in found]
    stable = [sum(one.stable is value for one in found) for value in (True, False, None)]
    lengths = np.median([one.lengths for one in found])
    broke = Counter(name for one in found for name in one.broke).most_common(1)
    return (
        f"{kind.__name__:<12} {kind.truth:9,.1f} {low:9,.1f} {middle:9,.1f} {high:9,.1f}"
        f" {right:6} {ends:5} {statuses.count('found'):5} {statuses.count('wide'):5}"
        f" {'/'.join(map(str, stable)):>9} {np.median([one.measurements for one in found]):6.0f}"
        f" {lengths:8.0f}  {broke[0][0] if broke else '-'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--server", choices=[kind.__name__ for kind in SERVERS])
    options = parser.parse_args()
    print(
        f"{'server':<12} {'truth':>9} {'least':>9} {'median':>9} {'most':>9} {'right':>9}"
        f" {'found':>5} {'wide':>5} {'stable':>9} {'meas.':>6} {'windows':>8}  broke (mostly)"
    )
    for kind in SERVERS:
        if options.server in (None, kind.__name__):
            began = time.perf_counter()
            print(
                line(kind, options.searches, options.seed),
                f"({time.perf_counter() - began:.1f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
