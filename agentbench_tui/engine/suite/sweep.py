"""The parameter points of a sweep."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import Problem, SuiteError
from agentbench_tui.model.identity import canonical_json

if TYPE_CHECKING:
    from agentbench_tui.model.suite import Range, Sweep

MAX_POINTS = 10_000


def points(
    sweep: Sweep | None, seed: int, pinned: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return every distinct point to run; `[{}]` without a sweep.

    Cartesian: the full product, in the order of the file, the last parameter changing fastest.
    Random: `samples` distinct points drawn with `seed`; all of them, evenly shuffled, when there
    are few more than that; fewer when a range hardly holds so many.
    `pinned` parameters (those given by `--set`) are not swept. Raises SuiteError for more than
    10,000 points.
    """
    if sweep is None:
        return [{}]
    swept = {
        name: values for name, values in sweep.parameters.items() if name not in (pinned or {})
    }
    if sweep.strategy == "random":
        return _random(swept, sweep.samples or 1, random.Random(seed))  # noqa: S311  # not a secret
    axes = {name: axis(values) for name, values in swept.items()}
    total = math.prod(len(values) for values in axes.values())
    if total > MAX_POINTS:
        raise SuiteError(
            [Problem(f"the sweep has {total:,} points, more than {MAX_POINTS:,}", path="sweep")]
        )
    return [dict(zip(axes, chosen, strict=True)) for chosen in itertools.product(*axes.values())]


def axis(values: list[Any] | Range) -> list[Any]:
    """Return the distinct values of one parameter in a cartesian sweep.

    A range gives `count` values evenly spaced on its scale, both ends exact, the others rounded
    to 12 significant digits (whole numbers where `integer`, so that there may be fewer).
    """
    if isinstance(values, list):
        return _distinct(values)
    last = values.count - 1
    inner = [_round(_at(values, index / last), values) for index in range(1, last)]
    return _distinct([_end(values.start, values), *inner, _end(values.stop, values)])


def _random(
    swept: Mapping[str, list[Any] | Range], samples: int, generator: random.Random
) -> list[dict[str, Any]]:
    finite = {name: _finite(values) for name, values in swept.items()}
    sizes = [math.inf if values is None else len(values) for values in finite.values()]
    if math.prod(sizes) <= 10 * samples:
        product = list(itertools.product(*(values or () for values in finite.values())))
        generator.shuffle(product)
        return [dict(zip(finite, chosen, strict=True)) for chosen in product[:samples]]
    drawn: dict[bytes, dict[str, Any]] = {}
    for _ in range(100 * samples):
        if len(drawn) == samples:
            break
        point = {name: _draw(values, generator) for name, values in swept.items()}
        drawn.setdefault(canonical_json(point), point)
    return list(drawn.values())


def _finite(values: list[Any] | Range) -> list[Any] | range | None:
    """Return all values that a random sweep may draw; None if they are uncountable."""
    if isinstance(values, list):
        return _distinct(values)
    if not values.integer:
        return None if values.start != values.stop else [values.start]
    low, high = sorted((_end(values.start, values), _end(values.stop, values)))
    return range(int(low), int(high) + 1)


def _draw(values: list[Any] | Range, generator: random.Random) -> Any:
    if isinstance(values, list):
        return generator.choice(_distinct(values))
    return _round(_at(values, generator.random()), values)


def _at(values: Range, share: float) -> float:
    """Return the value at `share` (0..1) of the way from start to stop, on the range's scale."""
    if values.scale == "log":
        return math.exp(
            math.log(values.start) + share * (math.log(values.stop) - math.log(values.start))
        )
    return values.start + share * (values.stop - values.start)


def _round(value: float, values: Range) -> float | int:
    return round(value) if values.integer else float(f"{value:.12g}")


def _end(value: float, values: Range) -> float | int:
    return round(value) if values.integer else value


def _distinct(values: list[Any]) -> list[Any]:
    return list({canonical_json(value): value for value in values}.values())
