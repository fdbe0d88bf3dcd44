"""Applying a benchmark's scorers to an answer: the same when running and when rescoring."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import Graded, GraderFailure, Score
from agentbench_tui.model.breaking_off import breakable
from agentbench_tui.model.errors import UsageError, message_of, named
from agentbench_tui.model.process_exit import one_process, passes
from agentbench_tui.model.user_task import in_own_task
from agentbench_tui.process.supervision import note_call
from agentbench_tui.scoring.answer_metric import answer_metrics
from agentbench_tui.scoring.combination import (
    combined,
    deciding,
    expected_of,
    metric_of_label,
)
from agentbench_tui.scoring.returned import as_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent, Answer, Case, Scorer
    from agentbench_tui.model.suite import Benchmark, Combine
    from agentbench_tui.scoring.answer_metric import AnswerMetric, Figure
    from agentbench_tui.scoring.registry import NamedScorer

SCORING_LIMIT_S = 300.0
"""Deadline of one scorer on one answer."""
JUDGE_CONCURRENCY = 4
"""Questions to one judge at once."""


class Scoring(msgspec.Struct, frozen=True):
    """How the answers of a benchmark are judged."""

    scorers: Sequence[NamedScorer] = ()
    combine: Combine = "all"
    metrics: Sequence[AnswerMetric] = ()

    async def grade(
        self, case: Case, answer: Answer, on_failure: Callable[[str], None]
    ) -> Graded | None:
        """Judge the answer; None if a scorer that decides failed, even where the others agree.

        To count the answer when the others call it wrong, and not when they call it right, would
        bias the accuracy. An exception of a scorer becomes a call of `on_failure`.
        """
        deciders = deciding([scorer.counts for scorer in self.scorers], self.combine)
        scores: dict[int, Score] = {}
        for position, scorer in enumerate(self.scorers):
            note_call(f"scorer {scorer.kind}, case {case.id}")
            try:
                result = await _apply(scorer.score, self._as_seen_by(scorer, case), answer)
                scores[position] = as_score(result, scorer.name)
            except BaseException as raised:  # it must not lose the answer
                if passes(raised):
                    raise
                detail = message_of(raised) if isinstance(raised, GraderFailure) else named(raised)
                on_failure(f"{scorer.name}: {detail}")
                if position in deciders:
                    return None
        found = list(scores.values())
        figures = self._figures(found) | await self._measured(case, answer, on_failure)
        if not deciders:
            return Graded(None, None, found, figures)
        credit, correct = combined([scores[position] for position in deciders], self.combine)
        return Graded(credit, correct, found, figures)

    def of_failure(self) -> dict[str, float]:
        """Return the figures of an observation without an answer: no scorer gives it credit."""
        if len(self.scorers) < 2:
            return {}
        return {scorer.metric: 0.0 for scorer in self.scorers}

    async def close(self) -> None:
        """Close every scorer."""
        for scorer in self.scorers:
            await scorer.close()

    async def _measured(
        self, case: Case, answer: Answer, on_failure: Callable[[str], None]
    ) -> dict[str, Figure]:
        """Return the value of each metric that has one for the answer."""
        found: dict[str, Figure] = {}
        for metric in self.metrics:
            note_call(f"metric {metric.name}, case {case.id}")
            try:
                value = await _measure(metric, case, answer)
            except BaseException as raised:  # it must not lose the answer
                if passes(raised):
                    raise
                detail = message_of(raised) if isinstance(raised, GraderFailure) else named(raised)
                on_failure(f"{metric.name}: {detail}")
            else:
                if value is not None:
                    found[metric.name] = value
        return found

    def _figures(self, scores: Sequence[Score]) -> dict[str, Figure]:
        if len(self.scorers) < 2:
            return {}
        return {metric_of_label(score.scorer): score.value for score in scores}

    def _as_seen_by(self, scorer: NamedScorer, case: Case) -> Case:
        """Return the case with the scorer's own part of `expected`, if each scorer has one."""
        labels = [one.name for one in self.scorers]
        expected = expected_of(case.expected, scorer.name, labels)
        if expected is case.expected:
            return case
        return msgspec.structs.replace(case, expected=expected)


def make_scoring(benchmark: Benchmark, folder: Path | str) -> Scoring:
    """Return how a benchmark's answers are judged; paths are relative to `folder`."""
    scorers = [scorer_of(spec, folder) for spec in benchmark.scorers]
    return Scoring(scorers, benchmark.combine, answer_metrics(benchmark.metrics, folder))


def scorer_of(spec: str | Mapping[str, Any], folder: Path | str) -> NamedScorer:
    """Return the scorer that a suite writes so, which may ask judges. Raises UsageError."""
    from agentbench_tui.scoring.registry import make_scorer

    opener = partial(_open_judge, folder=str(folder))
    return make_scorer(spec, open_judge=opener, base_dir=folder)


def scorer_problems(spec: object, folder: Path | str) -> list[str]:
    """Return every problem of a scorer, or else of the judges that it asks, one per line.

    May import a judge's Python module; opens no connection.
    """
    from agentbench_tui.agents.registry import check_agent
    from agentbench_tui.scoring.registry import check_scorer

    if problems := check_scorer(spec, base_dir=folder):
        return problems
    for target in dict.fromkeys(_judges(spec)):
        try:
            found = check_agent(judge_spec(target, str(folder)))
        except UsageError as error:
            found = str(error).splitlines()
        problems += [f"judge {target}: {problem}" for problem in found]
    return problems


def _judges(spec: object) -> Iterator[str]:
    """Yield the targets of the judges of a sound scorer, including those of its parts."""
    from agentbench_tui.scoring.registry import name_and_options

    name, options = name_and_options(spec)
    if name == "model_graded":
        yield from options["judges"]
    elif name == "weighted":
        for part in options["parts"]:
            yield from _judges(part["scorer"])


@breakable
async def _measure(metric: AnswerMetric, case: Case, answer: Answer) -> Figure | None:
    with one_process():
        pending = metric.of(case, answer)
    async with asyncio.timeout(SCORING_LIMIT_S):
        return await in_own_task(pending)


@breakable
async def _apply(scorer: Scorer, case: Case, answer: Answer) -> Score:
    """Return the scorer's result, whether it is synchronous or awaitable."""
    with one_process():
        score = scorer(case, answer)
    if isinstance(score, Score):
        return score
    if inspect.isawaitable(score):
        async with asyncio.timeout(SCORING_LIMIT_S):
            return await in_own_task(score)
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
