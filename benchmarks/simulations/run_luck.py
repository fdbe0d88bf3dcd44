"""Run luck: what all answers of one run share, and few runs cannot show.

Times are log-normal: 30 cases with a log-sd of 0.3 between them, 2% noise of each answer, and a
factor for each run (its luck), for each sitting, and for the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from agentbench_tui.verdicts.comparison.compare import compare_evidence
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.ranking.standing import by_repeats
from simulations.guarantee import Guarantee, Rate

CASES, HARD, NOISE, MARGIN = 30, 0.3, 0.02, 0.05
USUAL = (0.03, 0.05, 0.08)
"""Log-sd between runs on shared machines."""
HOW = Asked(resamples=1_000)


@dataclass(frozen=True, slots=True)
class Design:
    """How the runs of both sides were made."""

    words: str
    runs: int
    repeats: int = 1
    """In each run."""
    order: str = ""
    """Of the runs in time, such as `ABAB`; empty for files."""
    tells_runs: bool = True
    """Whether a file has a column `run`."""
    shared: bool = False
    """Whether both agents are in the same runs, in turn."""


ONE_RUN = Design("one run with 5 repeats each", 1, 5, "AB")
TWO_RUNS = Design("two runs each", 2, 1, "ABAB")
FILE = Design("files of one run", 1, tells_runs=False)
FILE_REPEATS = Design("files of one run with 5 repeats", 1, 5, tells_runs=False)
FILE_RUNS = Design("files of two runs", 2)
THREE_RUNS = Design("three runs each, in turn", 3, 1, "ABABAB")
FIVE_RUNS = Design("five runs each, in turn", 5, 1, "ABABABABAB")
SITTINGS = Design("five runs each, one sitting each", 5, 1, "AAAAABBBBB")
TOGETHER = Design("both agents in one run with 5 repeats", 1, 5, "A", shared=True)


def sides(
    design: Design, factor: float, luck: float, day: float, draw: np.random.Generator
) -> tuple[TaskEvidence, TaskEvidence]:
    """Evidence of A, and of B that takes `factor` times as long."""
    hard = draw.normal(0, HARD, CASES)
    of_runs = draw.normal(0, luck, design.runs)
    pair = []
    for name, by in (("A", 1.0), ("B", factor)):
        own = of_runs if design.shared else draw.normal(0, luck, design.runs)
        own = np.repeat(own + draw.normal(0, day), design.repeats)
        noise = draw.normal(0, NOISE, (len(own), CASES))
        pair.append(_evidence(design, name, by * np.exp(hard + own[:, None] + noise)))
    return pair[0], pair[1]


def _evidence(design: Design, name: str, times: np.ndarray) -> TaskEvidence:
    """`times` by repeat and case."""
    repeats = len(times)
    case = np.tile(np.arange(CASES), repeats)
    order = design.order.replace("A", "AB") if design.shared else design.order
    places = [place for place, side in enumerate(order) if side == name]
    rows = [
        {"run_id": f"{0 if design.shared else place:04}", "created_at": f"{place:04}"}
        for place in places
    ]
    return TaskEvidence(
        rows,
        case,
        case,
        np.full(times.size, 42),
        np.repeat(np.arange(repeats), CASES),
        {"e2e_ms": times.reshape(-1)},
        repeats,
        repeats_of=[design.repeats] * len(rows),
        run_of=np.arange(repeats) if design.tells_runs and not rows else None,
    )


def verdicts(
    design: Design,
    trials: int,
    draw: np.random.Generator,
    *,
    factor: float = 1.0,
    luck: float,
    day: float = 0.0,
) -> list[str]:
    """Verdicts of `compare` on the time, one a trial."""
    found = []
    for _ in range(trials):
        ((one,), _) = compare_evidence(*sides(design, factor, luck, day, draw), HOW, ["e2e_ms"])
        found.append(judged(one, one.p_tested).verdict)
    return found


def _worst(rates: Sequence[Rate]) -> Rate:
    return max(rates, key=lambda rate: rate.share)


def _called_different(
    design: Design, days: Sequence[float], trials: int, draw: np.random.Generator
) -> Rate:
    """The worst of the usual run lucks; with luck of the day, beside a run luck of 3%."""
    lucks = [(USUAL[0], day) for day in days] if days else [(luck, 0.0) for luck in USUAL]
    found = [verdicts(design, trials, draw, luck=luck, day=day) for luck, day in lucks]
    return _worst([Rate(sum(v in {"better", "worse"} for v in one), trials) for one in found])


def _called_different_by_runs(design: Design, trials: int, draw: np.random.Generator) -> Rate:
    """Over the usual run lucks together: with the variance estimated, the rate is that of all."""
    found = [v for luck in USUAL for v in verdicts(design, trials // 3, draw, luck=luck)]
    return Rate(sum(v in {"better", "worse"} for v in found), len(found))


def _called_equivalent(design: Design, trials: int, draw: np.random.Generator) -> Rate:
    """At a true difference of exactly the margin."""
    found = [verdicts(design, trials, draw, factor=1 + MARGIN, luck=luck) for luck in USUAL]
    return _worst([Rate(one.count("equivalent"), trials) for one in found])


def _found(
    design: Design, factor: float, luck: float, trials: int, draw: np.random.Generator
) -> Rate:
    found = verdicts(design, trials, draw, factor=factor, luck=luck)
    return Rate(found.count("worse"), trials)


BOARD, BOARD_REPEATS = 20, 5


def board_ranks(
    factors: Sequence[float], luck: float, draw: np.random.Generator
) -> list[tuple[int, ...]]:
    """Of each agent, measured in a run of its own, those clearly behind it."""
    logs = np.log(factors) + draw.normal(0, luck, len(factors))
    times = np.exp(logs[:, None] + draw.normal(0, NOISE, (len(factors), BOARD_REPEATS)))
    runs = [[{agent}] for agent in range(len(factors))]
    found = by_repeats([[of] for of in times], "lower", share=False, runs=runs)
    return [row.ahead_of for row in found.rows]


def _told_apart(luck: float, trials: int, draw: np.random.Generator) -> Rate:
    equal = [1.0] * BOARD
    return Rate(sum(any(board_ranks(equal, luck, draw)) for _ in range(trials)), trials)


def _last_found(factor: float, luck: float, trials: int, draw: np.random.Generator) -> Rate:
    """The first against the last of a board on which all others are equal."""
    factors = [1.0] * (BOARD - 1) + [factor]
    hits = sum(BOARD - 1 in board_ranks(factors, luck, draw)[0] for _ in range(trials))
    return Rate(hits, trials)


_FEW = "runs on one machine differ by 3–8% (log-sd), independently"
_MORE = "runs differ by more than 8%, or the runs of one agent share a state"
_EQUAL = "equal agents called different"
_SAME = "agents 5% apart (the margin) called equivalent"


def _equal_row(design: Design, days: Sequence[float] = (), assumes: str = _FEW) -> Guarantee:
    words = f"compare, times, {design.words}" + (", luck of the day 2–4%" if days else "")
    return Guarantee(
        words,
        _EQUAL,
        partial(_called_different, design, days),
        trials=800,
        highest=0.05,
        assumes=assumes,
        breaks=_MORE,
    )


def _by_runs_row(design: Design) -> Guarantee:
    return Guarantee(
        f"compare, times, {design.words}",
        _EQUAL,
        partial(_called_different_by_runs, design),
        trials=2_400,
        highest=0.05,
        assumes="runs are independent of each other",
        breaks="the runs of one agent share a state",
    )


def _margin_row(design: Design) -> Guarantee:
    return Guarantee(
        f"compare, times, {design.words}",
        _SAME,
        partial(_called_equivalent, design),
        trials=200,
        highest=0.05,
        assumes=_FEW,
        breaks=_MORE,
    )


def _power_row(design: Design, percent: int, luck: float, lowest: float) -> Guarantee:
    return Guarantee(
        f"compare, times, {design.words}, runs differ by {100 * luck:.0f}%",
        f"{percent}% slower agent called worse",
        partial(_found, design, 1 + percent / 100, luck),
        trials=200,
        lowest=lowest,
        assumes="the between-run variance named",
        breaks="runs differ by more",
    )


def _board_row(luck: float) -> Guarantee:
    return Guarantee(
        f"leaderboard, times of {BOARD} agents, one run each, runs differ by {100 * luck:.0f}%",
        "any two equal agents told apart",
        partial(_told_apart, luck),
        trials=400,
        highest=0.05,
        assumes="runs on one machine differ by 3–6% (log-sd), independently",
        breaks="runs differ by more than 6%",
    )


def _board_power_row(percent: int) -> Guarantee:
    return Guarantee(
        f"leaderboard, times of {BOARD} agents, one run each, runs differ by 3%",
        f"{percent}% slower agent told apart from an equal one",
        partial(_last_found, 1 + percent / 100, 0.03),
        trials=200,
        assumes="the between-run variance named",
        breaks="runs differ by more",
    )


_SITTINGS = "runs differ by 3% and days by 2–4% (log-sd), independently"

ROWS = (
    *(_equal_row(one) for one in (ONE_RUN, TWO_RUNS, FILE, FILE_REPEATS, FILE_RUNS)),
    _equal_row(SITTINGS, (0.02, 0.04), _SITTINGS),
    *(_by_runs_row(one) for one in (THREE_RUNS, FIVE_RUNS)),
    _equal_row(TOGETHER, assumes="both agents meet the same machine state, turn by turn"),
    *(_board_row(luck) for luck in (0.03, 0.06)),
    *(_margin_row(one) for one in (ONE_RUN, TWO_RUNS, FILE, FILE_RUNS, SITTINGS)),
    _power_row(ONE_RUN, 40, 0.03, 0.95),
    _power_row(ONE_RUN, 40, 0.05, 0.9),
    *(_power_row(ONE_RUN, percent, 0.03, 0.0) for percent in (15, 25)),
    *(_power_row(TWO_RUNS, percent, 0.03, 0.0) for percent in (15, 25)),
    *(_power_row(FIVE_RUNS, percent, 0.03, 0.0) for percent in (15, 25)),
    *(_board_power_row(percent) for percent in (40, 60)),
)
"""With few runs each rate is the worst of three lucks (3, 5, 8%), or two (days of 2 and 4%)."""
