"""Does the scalability law come back out of a closed loop? Simulated targets with a known law.

    python benchmarks/stress_scaling.py [RUNS]

Each run measures 8 numbers of users from 1 to 64, five times in random order, on the simulated
stand of the tests, whose service takes (1 + σ(N-1) + κN(N-1))/λ with N in it, times lognormal
noise. Printed: in how many runs the 95 % intervals hold the truth, how wide they are, and how often
a peak is claimed of a target that has none.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/stress"))

from faulty_server import Behaviour  # noqa: E402 - found by the path above
from simulated_stand import SimulatedStand  # noqa: E402

from agentbench_tui.stress.course import Course  # noqa: E402
from agentbench_tui.stress.report import ScalingFacts  # noqa: E402
from agentbench_tui.stress.scaling import closed_rate, scaling_facts, user_levels  # noqa: E402
from agentbench_tui.stress.scenarios.concurrent_requests import REPEATS  # noqa: E402

RATE, MOST, ROUNDS, LEAST_S, NOISE = 20.0, 64, 10.0, 2.5, 0.2
LAWS = ((0.04, 0.0009), (0.1, 0.002), (0.05, 0.0), (0.0, 0.0))
"""σ and κ."""


async def measured(contention: float, coherency: float, seed: int) -> ScalingFacts:
    behaviour = Behaviour(rate=RATE, contention=contention, coherency=coherency)
    stand = SimulatedStand(behaviour, noise=NOISE, wire_s=1e-6, seed=seed, time_limit_s=60.0)
    order = user_levels(MOST) * REPEATS
    random.Random(seed).shuffle(order)
    points = []
    for users in order:
        each_s = (1 + contention * (users - 1) + coherency * users * (users - 1)) / RATE
        length_s = max(LEAST_S, ROUNDS * each_s)
        window = await stand.hold(Course(length_s, users=users), phase="scaling")
        rate = closed_rate(window)
        if rate is not None:
            points.append((float(users), rate))
    return scaling_facts(points, seed=seed)


def holds(ends: tuple[float, float] | None, truth: float) -> bool:
    return ends is not None and ends[0] <= truth <= ends[1]


def width(ends: tuple[float, float] | None) -> float:
    return math.nan if ends is None else ends[1] - ends[0]


async def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{runs} runs each; λ {RATE:g}/s, {MOST} users at most")
    for contention, coherency in LAWS:
        facts = [await measured(contention, coherency, seed) for seed in range(runs)]
        sigma = sum(holds(one.sigma_interval, contention) for one in facts) / runs
        kappa = sum(holds(one.kappa_interval, coherency) for one in facts) / runs
        peaks = [one for one in facts if one.n_star is not None]
        widths = sorted(width(one.sigma_interval) for one in facts)
        text = (
            f"σ {contention:g}, κ {coherency:g}: σ within {100 * sigma:.0f} %"
            f" (interval {widths[runs // 2]:.2g} wide), κ within {100 * kappa:.0f} %,"
            f" a peak in {100 * len(peaks) / runs:.0f} %"
        )
        if coherency and peaks:
            truth = math.sqrt((1 - contention) / coherency)
            within = sum(holds(one.n_star_interval, truth) for one in peaks) / len(peaks)
            middle = sorted(one.n_star or 0.0 for one in peaks)[len(peaks) // 2]
            text += f", N* within {100 * within:.0f} % (median {middle:.1f}, truth {truth:.1f})"
        print(text)


if __name__ == "__main__":
    asyncio.run(main())
