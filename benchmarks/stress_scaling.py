"""Does the scalability law come back out of a closed loop? Targets with a known law.

    python benchmarks/stress_scaling.py [RUNS] [--real]

Each run measures 8 numbers of users from 1 to 64, five times in random order, on the simulated
stand of the tests, whose service takes (1 + σ(N-1) + κN(N-1))/λ with N in it, times lognormal
noise. Printed: in how many runs the 95% intervals hold the truth, how wide they are, and how often
a peak is claimed of a target that has none.

With `--real` the scenario concurrent_requests is run on servers in processes of their own that take
as long. Measured so on 2 cores that others kept busy (a load of 8), σ 0.04, κ 0.0009 and N* 32.7:
at λ 100/s (time scale 0.5, 114 s) σ [0.028, 0.041], κ [0.00073, 0.00095], N* [32.0, 36.3]; at λ
20/s (time scale 1, 204 s) σ [0.037, 0.041], κ [0.00086, 0.00093], N* [32.2, 33.3]. The slower the
service, the less does the way to it matter.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import socket
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/stress"))

from faulty_server import Behavior  # noqa: E402 - found by the path above
from simulated_stand import SimulatedStand  # noqa: E402

from agentbench_tui.engine.run.coordinator import carry_out  # noqa: E402
from agentbench_tui.engine.run.planning import RunOptions, make_plan  # noqa: E402
from agentbench_tui.engine.suite.loading import suite_of_data  # noqa: E402
from agentbench_tui.store.database import create_or_migrate, reading  # noqa: E402
from agentbench_tui.stress.report import ScalingFacts  # noqa: E402
from agentbench_tui.stress.reporter import read_report  # noqa: E402
from agentbench_tui.stress.scenarios.concurrent_requests import REPEATS  # noqa: E402
from agentbench_tui.stress.search.scaling import closed_rate, scaling_facts, user_levels  # noqa: E402
from agentbench_tui.stress.stand.window_plan import WindowPlan  # noqa: E402

RATE, MOST, ROUNDS, LEAST_S, NOISE = 20.0, 64, 10.0, 2.5, 0.2
LAWS = ((0.04, 0.0009), (0.1, 0.002), (0.05, 0.0), (0.0, 0.0))
"""σ and κ."""
REAL_RATES = (100.0, 20.0)


async def measured(contention: float, coherency: float, seed: int) -> ScalingFacts:
    behavior = Behavior(rate=RATE, contention=contention, coherency=coherency)
    stand = SimulatedStand(behavior, noise=NOISE, wire_s=1e-6, seed=seed, time_limit_s=60.0)
    order = user_levels(MOST) * REPEATS
    random.Random(seed).shuffle(order)
    points = []
    for users in order:
        each_s = (1 + contention * (users - 1) + coherency * users * (users - 1)) / RATE
        length_s = max(LEAST_S, ROUNDS * each_s)
        window = await stand.hold(WindowPlan(length_s, users=users), phase="scaling")
        rate = closed_rate(window)
        if rate is not None:
            points.append((float(users), rate))
    return scaling_facts(points, seed=seed)


def holds(ends: tuple[float, float] | None, truth: float) -> bool:
    return ends is not None and ends[0] <= truth <= ends[1]


def width(ends: tuple[float, float] | None) -> float:
    return math.nan if ends is None else ends[1] - ends[0]


def real(rate: float, contention: float, coherency: float, folder: Path) -> ScalingFacts | None:
    """The law that the scenario finds of a server which it starts itself."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
    law = f"rate={rate} contention={contention} coherency={coherency}"
    serve = f"{{python}} {ROOT}/tests/stress/faulty_server.py scales port={port} {law}"
    stress = {"scenario": "concurrent_requests", "time_scale": 0.5, "most_concurrency": MOST}
    document = {
        "suite_id": "law",
        "agents": [{"id": "server", "target": f"openai:http://127.0.0.1:{port}#law"}],
        "benchmarks": [
            {"benchmark_id": "law", "kind": "stress", "stress": {**stress, "serve": serve}}
        ],
    }
    plan = make_plan([suite_of_data(document, folder)], RunOptions(folder=folder))
    database = folder / "store.db"
    create_or_migrate(database)
    asyncio.run(carry_out(plan, database))
    with reading(database) as connection:
        report = read_report(connection, 1)
    return None if report is None else report.scaling


def on_real_servers(runs: int) -> None:
    """Print what is found of each, and whether the intervals hold the truth."""
    contention, coherency = LAWS[0]
    star = math.sqrt((1 - contention) / coherency)
    for rate in REAL_RATES:
        for _ in range(runs):
            began = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                found = real(rate, contention, coherency, Path(folder))
            if found is None:
                print(f"λ {rate:g}/s: no law")
                continue
            held = [
                holds(found.sigma_interval, contention),
                holds(found.kappa_interval, coherency),
                holds(found.n_star_interval, star),
            ]
            print(
                f"λ {rate:g}/s: {found.lambda_per_s:.1f}/s, σ {found.sigma_interval}, κ"
                f" {found.kappa_interval}, N* {found.n_star_interval}; hold the truth: {held}"
                f" ({time.perf_counter() - began:.0f} s)",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="?", type=int, default=None)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    if given.real:
        on_real_servers(given.runs or 1)
    else:
        asyncio.run(simulated(given.runs or 100))


async def simulated(runs: int) -> None:
    print(f"{runs} runs each; λ {RATE:g}/s, {MOST} users at most")
    for contention, coherency in LAWS:
        facts = [await measured(contention, coherency, seed) for seed in range(runs)]
        sigma = sum(holds(one.sigma_interval, contention) for one in facts) / runs
        kappa = sum(holds(one.kappa_interval, coherency) for one in facts) / runs
        peaks = [one for one in facts if one.n_star is not None]
        widths = sorted(width(one.sigma_interval) for one in facts)
        text = (
            f"σ {contention:g}, κ {coherency:g}: σ within {100 * sigma:.0f}%"
            f" (interval {widths[runs // 2]:.2g} wide), κ within {100 * kappa:.0f}%,"
            f" a peak in {100 * len(peaks) / runs:.0f}%"
        )
        if coherency and peaks:
            truth = math.sqrt((1 - contention) / coherency)
            within = sum(holds(one.n_star_interval, truth) for one in peaks) / len(peaks)
            middle = sorted(one.n_star or 0.0 for one in peaks)[len(peaks) // 2]
            text += f", N* within {100 * within:.0f}% (median {middle:.1f}, truth {truth:.1f})"
        print(text)


if __name__ == "__main__":
    main()
