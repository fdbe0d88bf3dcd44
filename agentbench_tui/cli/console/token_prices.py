"""Token prices on the command line: `0.5/1.5`, dollars per million input and output tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import click

from agentbench_tui.model.bounds import LARGEST_NUMBER

_AMOUNT = r"\$?([0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_FORM = re.compile(rf"(?:(?P<model>[^=]+)=)?\s*{_AMOUNT}\s*/\s*{_AMOUNT}(?:\s*/\s*{_AMOUNT})?\s*")
EVERY_MODEL = "*"


class TokenPrice(click.ParamType):  # type: ignore[type-arg]  # generic in click's newest only
    """`[MODEL=]INPUT/OUTPUT[/CACHED]`, as the table that a suite would have in `prices`."""

    name = "price"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """Return the price. Raises a usage error."""
        if isinstance(value, dict):
            return value  # a default
        match = _FORM.fullmatch(value.strip())
        if match is None:
            self.fail(
                f"{value!r}: expected [MODEL=]INPUT/OUTPUT[/CACHED] in USD per million tokens, "
                "such as 0.5/1.5 or my-model=0.5/1.5/0.05",
                param,
                ctx,
            )
        amounts = [None if one is None else float(one) for one in match.groups()[1:]]
        if any(one is not None and one > LARGEST_NUMBER for one in amounts):
            self.fail(f"{value!r} is too large", param, ctx)
        price = {"model": (match["model"] or EVERY_MODEL).strip()}
        named = dict(zip(("input", "output", "cached_input"), amounts, strict=True))
        return price | {name: amount for name, amount in named.items() if amount is not None}


def by_narrowness(prices: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Sort prices of exact models before those of patterns, and the longer before the shorter: the
    first that matches an answer's model counts."""
    return tuple(sorted(prices, key=lambda one: (EVERY_MODEL in one["model"], -len(one["model"]))))


def check_models(prices: tuple[dict[str, Any], ...]) -> None:
    """Raise UsageError for a second price of a model, which is a mistake."""
    seen: set[str] = set()
    for price in prices:
        model = price["model"]
        if model in seen:
            every = model == EVERY_MODEL
            of = "every model" if every else f"model {model}"
            hint = "; name the models, such as --price my-model=0.5/1.5" if every else ""
            raise click.UsageError(f"--price: two prices for {of}{hint}")
        seen.add(model)
