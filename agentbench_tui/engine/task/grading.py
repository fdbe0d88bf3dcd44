"""Applying a benchmark's scorers to an answer: the same when running and when rescoring."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import TYPE_CHECKING

from agentbench_tui.model.answer import GraderFailure, Score
from agentbench_tui.model.breaking_off import breakable
from agentbench_tui.model.errors import message_of, named
from agentbench_tui.model.process_exit import in_one_process, one_process, passes
from agentbench_tui.process.supervision import note_call
from agentbench_tui.scoring.returned import as_score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent, Answer, Case, Scorer
    from agentbench_tui.model.suite import Benchmark
    from agentbench_tui.scoring.registry import NamedScorer

SCORING_LIMIT_S = 300.0
"""Deadline of one scorer on one answer."""
JUDGE_CONCURRENCY = 4
"""Questions to one judge at once."""


def make_scorers(benchmark: Benchmark, folder: Path | str) -> list[NamedScorer]:
    """Return the benchmark's scorers, the primary one first; paths are relative to `folder`."""
    from agentbench_tui.scoring.registry import make_scorer

    opener = partial(_open_judge, folder=str(folder))
    return [make_scorer(spec, open_judge=opener, base_dir=folder) for spec in benchmark.scorers]


async def grade(
    scorers: Sequence[NamedScorer],
    case: Case,
    answer: Answer,
    on_failure: Callable[[str], None],
) -> list[Score] | None:
    """Return the scores of the answer, the primary one first; None if the primary scorer failed.

    An exception of a scorer becomes a call of `on_failure`.
    """
    scores: list[Score] = []
    for position, scorer in enumerate(scorers):
        note_call(f"scorer {scorer.name}, case {case.id}")
        try:
            scores.append(as_score(await _apply(scorer.score, case, answer), scorer.name))
        except BaseException as raised:  # it must not lose the answer
            if passes(raised):
                raise
            detail = message_of(raised) if isinstance(raised, GraderFailure) else named(raised)
            on_failure(f"{scorer.name}: {detail}")
            if position == 0:
                return None
    return scores


@breakable
async def _apply(scorer: Scorer, case: Case, answer: Answer) -> Score:
    """Return the scorer's result, whether it is synchronous or awaitable."""
    with one_process():
        score = scorer(case, answer)
    if isinstance(score, Score):
        return score
    if inspect.isawaitable(score):
        async with asyncio.timeout(SCORING_LIMIT_S):
            return await in_one_process(score)
    return score


def judge_spec(target: str, folder: str) -> AgentSpec:
    """Return the agent that a scorer names as a judge. Raises UsageError."""
    from agentbench_tui.agents.target import parse_agent

    return parse_agent(target, base_dir=folder)


async def _open_judge(target: str, folder: str) -> Agent:
    """Start a session with the agent at `target`; the scorer closes it."""
    from agentbench_tui.agents.registry import open_agent

    spec = judge_spec(target, folder)
    agent = open_agent(spec, memory_limit_mb=None, concurrency=JUDGE_CONCURRENCY)
    await agent.start()
    return agent
