"""Whether generated markets are what they claim to be, and how fast they are made.

    python benchmarks/market_world.py [markets]

Time and size of a world of 1,800 ticks, 5 markets, 3 perpetuals and 8 agents; calibration of fair
values and prices, and what the price tells of the outcome, over whole worlds with all their agents;
how well authors can be told apart; what holding long gains.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from time import process_time

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.verify import verify
from agentbench_tui.market.world.world import SHARE_UNITS, World, WorldConfig
from agentbench_tui.market.world.world_file import decode_world, encode_truth, encode_world

Floats = NDArray[np.float64]
REPEATS = 15
A_WORLD = 5


def milliseconds(begun_s: float) -> float:
    return (process_time() - begun_s) * 1_000


def speed(interval_ms: int) -> None:
    config = WorldConfig(interval_ms=interval_ms)
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(REPEATS):
        begun_s = process_time()
        world, truth = generate(config)
        times["generate"].append(milliseconds(begun_s))
        begun_s = process_time()
        content = encode_world(world)
        times["encode"].append(milliseconds(begun_s))
        begun_s = process_time()
        decode_world(content)
        times["decode"].append(milliseconds(begun_s))
    begun_s = process_time()
    problems = sum(len(check.problems) for check in verify(world, truth))
    checked = milliseconds(begun_s)
    told = ", ".join(
        f"{name} {np.median(values):.1f} ms (least {min(values):.1f})"
        for name, values in times.items()
    )
    print(f"{world.ticks:,} ticks: {told}; verify {checked:.0f} ms, {problems} problems")
    print(f"  world {len(content) / 1e3:.0f} kB, truth {len(encode_truth(truth)) / 1e3:.0f} kB")


def price(world: World, market: int, tick: int) -> float:
    net = world.flows[market][tick] / SHARE_UNITS
    return float(1.0 / (1.0 + np.exp(-net / world.markets[market].b)))


def bins(stated: Floats) -> NDArray[np.int64]:
    return np.minimum((stated * 5).astype(np.int64), 4)


def calibration_error(stated: Floats, happened: Floats) -> float:
    gaps = np.bincount(bins(stated), weights=stated - happened, minlength=5)
    return float(np.abs(gaps).sum() / len(stated))


def calibration(name: str, stated: Floats, happened: Floats) -> None:
    place = bins(stated)
    told = "  ".join(
        f"{stated[place == bin_].mean():.3f}/{happened[place == bin_].mean():.3f}"
        for bin_ in range(5)
    )
    print(f"  {name}: stated/observed {told}")
    random = np.random.default_rng(1)
    # What chance alone would show if every statement were exactly right.
    exact = [
        calibration_error(stated, (random.random(len(stated)) < stated).astype(np.float64))
        for _ in range(400)
    ]
    print(
        f"    calibration error {calibration_error(stated, happened):.4f}; by chance alone "
        f"{np.mean(exact):.4f}, in 1 of 20 above {np.quantile(exact, 0.95):.4f}"
    )
    correlation = np.corrcoef(stated, happened)[0, 1]
    brier = ((stated - happened) ** 2).mean()
    print(f"    correlation with the outcome {correlation:.3f}, Brier score {brier:.4f}")


def signal(worlds: list[tuple[World, Truth]]) -> None:
    fair, quoted, outcome = [], [], []
    for world, truth in worlds:
        for place, market in enumerate(world.markets):
            tick = market.resolve_tick // 2
            fair.append(truth.fair[place][tick] / 1e6)
            quoted.append(price(world, place, tick))
            outcome.append(float(truth.outcomes[market.id]))
    happened = np.array(outcome)
    print(f"half way through {len(fair):,} markets")
    calibration("fair values", np.array(fair), happened)
    calibration("prices", np.array(quoted), happened)
    every_tick(worlds)


def every_tick(worlds: list[tuple[World, Truth]]) -> None:
    """Calibration over all ticks at which a market can be traded, in ten bins of equal mass: at
    2,000 markets chance alone makes 0.0095 (95% below 0.0144, see tests/market)."""
    fair, quoted, happened = [], [], []
    for world, truth in worlds:
        for place, market in enumerate(world.markets):
            end = market.resolve_tick
            net = np.array(world.flows[place][:end]) / SHARE_UNITS
            fair.append(np.array(truth.fair[place][:end]) / 1e6)
            quoted.append(1.0 / (1.0 + np.exp(-net / market.b)))
            happened.append(np.full(end, float(truth.outcomes[market.id])))
    outcome = np.concatenate(happened)
    for name, stated in (("fair values", np.concatenate(fair)), ("prices", np.concatenate(quoted))):
        groups = np.array_split(np.argsort(stated, kind="stable"), 10)
        gaps = [abs(float((stated - outcome)[group].sum())) for group in groups]
        print(f"  {name} at every tick: calibration error {sum(gaps) / len(stated):.4f}")


def authors(worlds: list[tuple[World, Truth]]) -> None:
    """How often prices went where each author leaned, a twentieth of the world later."""
    told, true = [], []
    for world, truth in worlds:
        ends = [market.resolve_tick for market in world.markets]
        columns = {
            market.id: world.flows[place][: ends[place]]
            for place, market in enumerate(world.markets)
        }
        columns |= {p.ticker: world.marks[place] for place, p in enumerate(world.perpetuals)}
        right = defaultdict(list)
        for post in world.posts:
            column = columns[post.subject]
            later = column[min(post.tick + max(1, world.ticks // 20), len(column) - 1)]
            if post.lean and later != column[post.tick]:
                right[post.author].append((later > column[post.tick]) == (post.lean > 0))
        for author in truth.authors:
            if right[author.id]:
                told.append(np.mean(right[author.id]))
                true.append(author.reliability_ppm / 1e6)
    correlation = np.corrcoef(told, true)[0, 1]
    reliable = np.array(true) > 0.7
    hits = [float(np.array(told)[chosen].mean()) for chosen in (reliable, ~reliable)]
    print(
        f"authors: seen against true reliability r = {correlation:.2f}; prices followed "
        f"{hits[0]:.1%} of reliable leans and {hits[1]:.1%} of the others"
    )


def drift(worlds: list[tuple[World, Truth]]) -> None:
    gains = np.array(
        [[marks[-1] / marks[0] - 1.0 for marks in world.marks] for world, _ in worlds]
    ).mean(axis=1)
    error = gains.std() / len(gains) ** 0.5
    print(f"holding long gains {gains.mean():+.3%} ± {1.96 * error:.3%} a world")


def main() -> None:
    markets = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    speed(1_000)
    speed(60_000)
    for interval_ms in (60_000, 6_000):
        worlds = [
            generate(WorldConfig(seed=seed, interval_ms=interval_ms))
            for seed in range(markets // A_WORLD)
        ]
        print(f"worlds of {worlds[0][0].ticks} ticks")
        signal(worlds)
        authors(worlds)
        drift(worlds)


if __name__ == "__main__":
    main()
