"""Converts tokens to dollars.

Prices come from the suite or `--prices FILE`, else from the installed genai-prices package (its
bundled data: nothing is downloaded). An unknown cost is None with a reason, never 0.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import Usage
from agentbench_tui.model.clock import unix_time
from agentbench_tui.model.errors import Problem, SuiteError, UsageError
from agentbench_tui.model.text.small_file import read_small_text

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

    from agentbench_tui.model.suite import Price

_MILLION = 1_000_000
EVERY_MODEL = "*"
"""The pattern whose price also applies to answers that name no model."""


class Cost(msgspec.Struct, frozen=True):
    """Cost of one answer."""

    usd: float | None
    """None when it is not known."""
    reason: str = ""
    """Why it is not known."""
    estimated: bool = False
    """True if agentbench rather than the server counted the tokens."""


class Rate(msgspec.Struct, frozen=True):
    """One price of a token above a number of input tokens, USD per million."""

    above: int
    price: float


class UsedPrice(msgspec.Struct, frozen=True):
    """A price that was applied: stored with the run. USD per million tokens."""

    model: str
    """Model as reported by the answers; `*` if they named none."""
    input: float
    output: float
    cached_input: float
    cache_write: float
    cache_write_1h: float
    source: str
    """`suite`, the name of the price file, or `genai-prices VERSION (PROVIDER/MODEL)`."""
    date: str | None = None
    """Since when the price holds, `YYYY-MM-DD`; None when the source doesn't say."""
    input_above: tuple[Rate, ...] = ()
    """Other input prices for long inputs, from the longest down."""
    output_above: tuple[Rate, ...] = ()
    cached_above: tuple[Rate, ...] = ()
    write_above: tuple[Rate, ...] = ()
    write_1h_above: tuple[Rate, ...] = ()


class PriceTable:
    """The prices in force for a run. Each model is looked up once."""

    def __init__(
        self, overrides: Iterable[Price] = (), *, source: str = "given", library: bool = True
    ) -> None:
        """`overrides` in order: the first that matches counts; they are stored with `source`.
        `library=False` uses only those.
        """
        self._overrides = [(price, source) for price in overrides]
        self._library = library
        self._known: dict[tuple[str, str | None], UsedPrice | str] = {}

    def add(self, prices: Iterable[Price], source: str) -> None:
        """Add prices after the existing ones."""
        self._overrides += [(price, source) for price in prices]

    def cost(self, model: str | None, provider: str | None, usage: Usage | None) -> Cost:
        """Return the cost of one answer.

        Input tokens read from a cache and those written to it have prices of their own; reasoning
        tokens are part of the output. `provider` (such as `openai`) tells apart equal model names.
        Without a model only the price of `EVERY_MODEL` applies.
        """
        if usage is None or usage.total is None:
            return Cost(None, "the agent did not say how many tokens it used")
        if usage.input_tokens is None:
            return Cost(None, "the agent did not say how many input tokens it used")
        if usage.output_tokens is None:
            return Cost(None, "the agent did not say how many output tokens it used")
        if model is None:
            if not any(price.model == EVERY_MODEL for price, _ in self._overrides):
                return Cost(None, "the agent did not say which model it used")
            model = EVERY_MODEL
        price = self._known.get((model, provider))
        if price is None:
            price = self._known[model, provider] = self._find(model, provider)
        if isinstance(price, str):
            return Cost(None, price)
        return Cost(_dollars(price, usage), "", usage.estimated)

    def used_prices(self) -> list[UsedPrice]:
        """Return every price that was applied, by model."""
        found = {price for price in self._known.values() if isinstance(price, UsedPrice)}
        return sorted(found, key=lambda price: (price.model, price.source))

    def _find(self, model: str, provider: str | None) -> UsedPrice | str:
        for price, source in self._overrides:
            # `*` as a model stands for an unknown one, which no narrower pattern may match.
            is_match = price.model == model or (
                model != EVERY_MODEL and fnmatch.fnmatchcase(model, price.model)
            )
            if is_match:
                cached = price.input if price.cached_input is None else price.cached_input
                write = price.input if price.cache_write is None else price.cache_write
                write_1h = write if price.cache_write_1h is None else price.cache_write_1h
                return UsedPrice(
                    model, price.input, price.output, cached, write, write_1h, source, price.date
                )
        return _from_library(model, provider) if self._library else f"no price given for {model}"


def _dollars(price: UsedPrice, usage: Usage) -> float:
    given = usage.input_tokens or 0
    cached = min(usage.cached_tokens or 0, given)
    written = min(usage.cache_write_tokens or 0, given - cached)
    written_1h = min(usage.cache_write_1h_tokens or 0, written)
    parts = (
        (given - cached - written, price.input, price.input_above),
        (cached, price.cached_input, price.cached_above),
        (written - written_1h, price.cache_write, price.write_above),
        (written_1h, price.cache_write_1h, price.write_1h_above),
        (usage.output_tokens or 0, price.output, price.output_above),
    )
    return sum(count * _rate(base, above, given) for count, base, above in parts) / _MILLION


def _rate(base: float, above: tuple[Rate, ...], input_tokens: int) -> float:
    return next((rate.price for rate in above if input_tokens > rate.above), base)


def _from_library(model: str, provider: str | None) -> UsedPrice | str:
    """Return the price of genai-prices, or why there is none."""
    import genai_prices
    from genai_prices.data_snapshot import get_snapshot

    try:
        vendor, info = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return f"the price of {model} is not known; give it in `prices` or with --prices"
    now = datetime.fromtimestamp(unix_time(), UTC)
    today = info.get_prices(now)
    input_price, input_above = _tiers(today.input_mtok)
    output_price, output_above = _tiers(today.output_mtok)
    if input_price is None or output_price is None:
        return f"{model} is not priced by input and output tokens"
    cached_price, cached_above = _tiers(today.cache_read_mtok)
    if cached_price is None:
        cached_price, cached_above = input_price, input_above
    write_price, write_above = _tiers(today.cache_write_mtok)
    if write_price is None:
        write_price, write_above = input_price, input_above
    write_1h_price, write_1h_above = _tiers(today.cache_write_1h_mtok)
    if write_1h_price is None:
        write_1h_price, write_1h_above = write_price, write_above
    return UsedPrice(
        model=model,
        input=input_price,
        output=output_price,
        cached_input=cached_price,
        cache_write=write_price,
        cache_write_1h=write_1h_price,
        source=f"genai-prices {genai_prices.__version__} ({vendor.id}/{info.id})",
        date=_since(info, now),
        input_above=input_above,
        output_above=output_above,
        cached_above=cached_above,
        write_above=write_above,
        write_1h_above=write_1h_above,
    )


def _tiers(price: Any) -> tuple[float | None, tuple[Rate, ...]]:
    """Return the base price, and prices above token counts in descending order."""
    from genai_prices.types import TieredPrices

    if price is None:
        return None, ()
    if isinstance(price, TieredPrices):
        above = [Rate(tier.start, float(tier.price)) for tier in price.tiers]
        above.sort(key=lambda rate: -rate.above)
        return float(price.base), tuple(above)
    return float(price), ()


def _since(info: ModelInfo, now: datetime) -> str | None:
    """Return the start of the price in force at `now`, if the model's price has changed."""
    from genai_prices.types import ModelPrice, StartDateConstraint

    if isinstance(info.prices, ModelPrice):
        return None
    starts = [
        price.constraint.start_date
        for price in info.prices
        if isinstance(price.constraint, StartDateConstraint) and price.constraint.active(now)
    ]
    return max(starts).isoformat() if starts else None


def read_prices(path: Path) -> list[Price]:
    """Read the prices of a YAML or JSON file: a list of {model, input, output, …} (`Price`).

    Raises UsageError when it cannot be read, SuiteError with every entry that is wrong.
    """
    from pydantic import ValidationError
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from agentbench_tui.model.suite import Price

    try:
        entries = YAML(typ="safe", pure=True).load(read_small_text(path, "price file"))
    except (YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"price file {path} cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise UsageError(f"price file {path} should be a list of {{model, input, output}}")
    prices, problems = [], []
    for index, entry in enumerate(entries):
        try:
            prices.append(Price.model_validate(entry))
        except ValidationError as error:
            problems += [
                Problem(item["msg"], ".".join(map(str, (index, *item["loc"]))), str(path))
                for item in error.errors(include_url=False)
            ]
    if problems:
        raise SuiteError(problems)
    return prices
