"""Order and speed of the shipped baselines over many worlds of the default size.

Run: python benchmarks/market_baselines.py [worlds]. A good world orders players by what they know:
oracle > bayes > follower > random, and being always long is no better than trading at random.
Prints mean P&L with its standard error, the share of what was attainable (fair and hindsight), the
Brier score, and seconds; then paired differences by world, generation + run + score of a world of
1,800 ticks, and the cost of a call.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from agentbench_tui.market.baselines import BASELINES, make, play
from agentbench_tui.market.judging.metrics import attainable, measure
from agentbench_tui.market.play.game import Game
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.world import WorldConfig

CALLS = ("a2a.getPredictions", "a2a.getPerpetuals", "a2a.getBalance", "a2a.getFeed")


def compare(worlds: int) -> None:
    """Every baseline in every world."""
    rows: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in BASELINES}
    began = time.perf_counter()
    for seed in range(worlds):
        world, truth = generate(WorldConfig(seed=seed))
        could = attainable(world, truth)
        for name in BASELINES:
            episode = play(Game(world, truth.outcomes), make(name, world, truth, seed))
            found = measure(episode, world, truth, could).values
            brier = found["brier"] if found["brier"] is not None else float("nan")
            fair, best = found["optimality_fair"], found["optimality"]
            rows[name].append((found["total_pnl"], fair, best, brier))
    seconds = time.perf_counter() - began
    print(
        f"{'baseline':<12}{'P&L USD':>10}{'s.e.':>8}{'fair':>8}{'s.d.':>7}{'best':>8}{'Brier':>8}"
    )
    for name, values in rows.items():
        table = np.array(values)
        mean, sd = table.mean(axis=0), table.std(axis=0, ddof=1)
        print(
            f"{name:<12}{mean[0]:>10.1f}{sd[0] / worlds**0.5:>8.1f}{mean[1]:>8.3f}{sd[1]:>7.3f}"
            f"{mean[2]:>8.3f}{mean[3]:>8.4f}"
        )
    for better, worse in (
        ("oracle", "bayes"),
        ("bayes", "follower"),
        ("follower", "random"),
        ("always_long", "random"),
    ):
        gap = np.array([a[0] - b[0] for a, b in zip(rows[better], rows[worse], strict=True)])
        error = gap.std(ddof=1) / worlds**0.5
        print(f"{better} - {worse}: {gap.mean():.1f} USD a world, {gap.mean() / error:+.1f} s.e.")
    print(f"{worlds} worlds x {len(BASELINES)} baselines: {seconds:.1f} s")


def long_world() -> None:
    """1,800 ticks: generate, play a trivial agent, score; and the calls of an agent in process."""
    began = time.perf_counter()
    world, truth = generate(WorldConfig(interval_ms=1_000))
    made = time.perf_counter()
    episode = play(Game(world, truth.outcomes), make("hold", world, truth, 0))
    played = time.perf_counter()
    measure(episode, world, truth)
    scored = time.perf_counter()
    print(
        f"1,800 ticks: generate {made - began:.3f} s, run {played - made:.3f} s, "
        f"score {scored - played:.3f} s, all {scored - began:.3f} s"
    )
    game = Game(world, truth.outcomes)
    spent = []
    while not game.is_over:
        before = time.perf_counter()
        for name in CALLS:
            game.call(name)
        spent.append(time.perf_counter() - before)
        game.advance()
    print(f"a call in process: {np.median(spent) / len(CALLS) * 1e6:.2f} us (median over ticks)")


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    long_world()
