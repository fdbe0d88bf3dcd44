"""The scorer `weighted`: several scorers of one answer combined, some of them gates."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.model.errors import UsageError, message_of, named
from agentbench_tui.scoring.recipe import Context, Options, Recipe


class WeightedPart(BaseModel):
    """One of several scorers."""

    model_config = Options.model_config

    scorer: str | dict[str, Any]
    """As a suite writes it."""
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    gate: bool = False
    """If this one is wrong, the whole is 0; being right earns its weight like any other."""


class WeightedOptions(Options):
    """Options of `weighted`."""

    parts: Annotated[list[WeightedPart], Field(min_length=1)]
    pass_at: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Value from which an answer counts as right."""

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if not sum(part.weight for part in self.parts):
            raise ValueError("at least one part needs a weight above 0")
        return self


class Weighted:
    """Value = Σ weight × value ÷ Σ weight, or 0 when a gate is wrong.

    Each of correctness, completeness and relevance is the mean of the parts that give it. The
    parts' values are kept in the score's metadata.
    """

    def __init__(self, options: WeightedOptions, context: Context) -> None:
        from agentbench_tui.scoring.registry import make_scorer

        self._name = context.name
        self._options = options
        self._scorers = []
        problems = []
        for place, part in enumerate(options.parts):
            try:
                scorer = make_scorer(
                    part.scorer,
                    open_judge=context.open_judge,
                    base_dir=context.base_dir,
                    keep_reasoning=context.keep_reasoning,
                )
            except UsageError as error:
                problems.append(f"parts.{place}: {error}")
            else:
                self._scorers.append(scorer)
        if problems:
            raise UsageError("; ".join(problems))

    def __call__(self, case: Case, answer: Answer) -> Score | Awaitable[Score]:
        """Return the score; awaitable if a part's is."""
        results: list[Score | Awaitable[Score]] = []
        try:
            for scorer in self._scorers:
                with _named_part(scorer.name):
                    results.append(scorer.score(case, answer))
        except BaseException:
            for result in results:
                if inspect.iscoroutine(result):
                    result.close()
            raise
        scores = [result for result in results if isinstance(result, Score)]
        return self._combined(scores) if len(scores) == len(results) else self._later(results)

    async def close(self) -> None:
        """Close every part."""
        for scorer in self._scorers:
            await scorer.close()

    async def _later(self, results: list[Score | Awaitable[Score]]) -> Score:
        async def settled(result: Score | Awaitable[Score], name: str) -> Score:
            with _named_part(name):
                return await result if inspect.isawaitable(result) else result

        names = [scorer.name for scorer in self._scorers]
        done = await asyncio.gather(*map(settled, results, names), return_exceptions=True)
        for result in done:
            if isinstance(result, BaseException):
                raise result
        return self._combined([result for result in done if isinstance(result, Score)])

    def _combined(self, scores: list[Score]) -> Score:
        parts = self._options.parts
        whole = sum(part.weight for part in parts)
        pairs = list(zip(parts, scores, strict=True))
        value = sum(part.weight * score.value for part, score in pairs) / whole
        shut = [score for part, score in pairs if part.gate and not score.correct]
        value = 0.0 if shut else min(1.0, value)
        reasons = [f"{score.scorer}: {score.reason}" for score in shut or scores if score.reason]
        return Score(
            self._name,
            value,
            not shut and value >= self._options.pass_at - 1e-9,
            "; ".join(reasons),
            correctness=_mean(score.correctness for score in scores),
            completeness=_mean(score.completeness for score in scores),
            relevance=_mean(score.relevance for score in scores),
            metadata={"parts": [[score.scorer, score.value] for score in scores]},
        )


@contextmanager
def _named_part(name: str) -> Iterator[None]:
    """Name the part in a failure that is raised in the block."""
    try:
        yield
    except Exception as error:
        detail = message_of(error) if isinstance(error, GraderFailure) else named(error)
        raise GraderFailure(f"{name}: {detail}") from error


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _needs_expected(options: WeightedOptions) -> bool:
    from agentbench_tui.scoring.registry import needs_expected

    return any(needs_expected(part.scorer) for part in options.parts)


RECIPES: dict[str, Recipe] = {
    "weighted": Recipe(WeightedOptions, Weighted, has_parts=True, needs_expected=_needs_expected)
}
