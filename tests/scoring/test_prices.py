"""From tokens to dollars: known prices, and what is not known."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import genai_prices
import pytest

from agentbench_tui.model.answer import Usage
from agentbench_tui.model.errors import SuiteError, UsageError
from agentbench_tui.model.suite import Price
from agentbench_tui.scoring.prices import PriceTable, read_prices

GIVEN = Price(model="mine-*", input=2.0, output=10.0, cached_input=0.5, date="2026-11-01")


def test_cost_by_hand() -> None:
    """(1000 − 400) × 2 + 400 × 0.5 + 300 × 10 dollars per million; reasoning is in the output."""
    usage = Usage(1000, 300, cached_tokens=400, reasoning_tokens=200)
    cost = PriceTable([GIVEN]).cost("mine-large", None, usage)
    assert cost.usd == pytest.approx((600 * 2 + 400 * 0.5 + 300 * 10) / 1e6)
    assert not cost.estimated


def test_cached_tokens_cost_the_input_price_when_no_other_is_given() -> None:
    table = PriceTable([Price(model="m", input=2.0, output=10.0)])
    assert table.cost("m", None, Usage(1000, 0, cached_tokens=400)).usd == pytest.approx(0.002)


def test_more_cached_than_input_tokens_never_make_a_cost_negative() -> None:
    cost = PriceTable([GIVEN]).cost("mine-1", None, Usage(10, 0, cached_tokens=50))
    assert cost.usd == pytest.approx(10 * 0.5 / 1e6)


@pytest.mark.parametrize(
    ("usage", "which"),
    [
        (None, ""),
        (Usage(), ""),
        (Usage(input_tokens=5), "output "),
        (Usage(output_tokens=5), "input "),
    ],
)
def test_unknown_tokens_make_the_cost_unknown(usage: Usage | None, which: str) -> None:
    cost = PriceTable([GIVEN]).cost("mine-1", None, usage)
    assert cost.usd is None
    assert cost.reason == f"the agent did not say how many {which}tokens it used"


def test_tokens_written_to_a_cache_have_their_prices() -> None:
    """(1000 − 400 − 300) × 2 + 400 × 0.5 + 200 × 2.5 + 100 × 4 dollars per million."""
    price = Price(
        model="m", input=2, output=10, cached_input=0.5, cache_write=2.5, cache_write_1h=4
    )
    usage = Usage(1000, 0, cached_tokens=400, cache_write_tokens=300, cache_write_1h_tokens=100)
    cost = PriceTable([price]).cost("m", None, usage)
    assert cost.usd == pytest.approx((300 * 2 + 400 * 0.5 + 200 * 2.5 + 100 * 4) / 1e6)
    used = PriceTable([price])
    used.cost("m", None, usage)
    assert [(one.cache_write, one.cache_write_1h) for one in used.used_prices()] == [(2.5, 4)]


def test_a_price_of_cache_writes_that_is_not_given_is_the_nearest_that_is() -> None:
    usage = Usage(1000, 0, cache_write_tokens=300, cache_write_1h_tokens=100)
    plain = PriceTable([Price(model="m", input=2, output=10)]).cost("m", None, usage)
    assert plain.usd == pytest.approx(1000 * 2 / 1e6)
    write = PriceTable([Price(model="m", input=2, output=10, cache_write=3)])
    assert write.cost("m", None, usage).usd == pytest.approx((700 * 2 + 300 * 3) / 1e6)


@pytest.mark.parametrize("model", ["claude-sonnet-4-20250514", "claude-sonnet-4-5", "gpt-4o-mini"])
@pytest.mark.parametrize("size", [15_020, 250_000])
def test_library_prices_of_cache_writes_are_those_of_the_library(model: str, size: int) -> None:
    counts = {"cache_read_tokens": 5_000, "cache_write_tokens": 10_000}
    long = {"cache_write_1h_tokens": 4_000} if model.startswith("claude") else {}
    usage = genai_prices.Usage(input_tokens=size, output_tokens=500, **counts, **long)
    reference = genai_prices.calc_price(usage, model).total_price
    cost = PriceTable().cost(
        model,
        None,
        Usage(
            size,
            500,
            cached_tokens=5_000,
            cache_write_tokens=10_000,
            cache_write_1h_tokens=long.get("cache_write_1h_tokens"),
        ),
    )
    assert cost.usd == pytest.approx(float(reference), rel=1e-9)


def test_unknown_models_make_the_cost_unknown() -> None:
    table = PriceTable()
    assert table.cost(None, None, Usage(1, 1)).usd is None
    cost = table.cost("no-such-model-anywhere", None, Usage(1, 1))
    assert cost.usd is None
    assert "no-such-model-anywhere" in cost.reason
    assert table.used_prices() == []


def test_free_models_cost_nothing_rather_than_unknown() -> None:
    table = PriceTable([Price(model="local", input=0.0, output=0.0)])
    assert table.cost("local", None, Usage(5, 5)).usd == 0.0


def test_estimated_tokens_mark_the_cost() -> None:
    assert PriceTable([GIVEN]).cost("mine-1", None, Usage(1, 1, estimated=True)).estimated


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro"])
@pytest.mark.parametrize("size", [1_000, 199_999, 250_000])
def test_library_prices_are_those_of_the_library(model: str, size: int) -> None:
    """Tiers for long inputs included; the library's own calculation is the reference."""
    usage = genai_prices.Usage(input_tokens=size, cache_read_tokens=size // 2, output_tokens=700)
    reference = genai_prices.calc_price(usage, model).total_price
    cost = PriceTable().cost(model, None, Usage(size, 700, cached_tokens=size // 2))
    assert cost.usd == pytest.approx(float(reference), rel=1e-9)


def test_given_prices_come_before_the_library_and_the_first_match_counts() -> None:
    table = PriceTable(
        [Price(model="gpt-4o-mini", input=1.0, output=1.0), Price(model="*", input=9, output=9)]
    )
    assert table.cost("gpt-4o-mini", None, Usage(1_000_000, 0)).usd == 1.0
    assert table.cost("anything", None, Usage(1_000_000, 0)).usd == 9.0


def test_used_prices_tell_source_and_date() -> None:
    table = PriceTable([GIVEN])
    for model in ("mine-1", "mine-1", "gpt-4o-mini", "unknown-model"):
        table.cost(model, None, Usage(1, 1))
    library, given = table.used_prices()
    assert (given.model, given.input, given.output, given.cached_input) == ("mine-1", 2, 10, 0.5)
    assert (given.source, given.date) == ("given", "2026-11-01")
    assert library.model == "gpt-4o-mini"
    assert library.source.startswith(f"genai-prices {genai_prices.__version__} (openai/")


def test_looking_up_a_price_opens_no_connection_and_starts_no_thread() -> None:
    """Seen from outside: an audit hook in a fresh interpreter refuses every socket."""
    program = """
import sys, threading
def refuse(event, arguments):
    if event.startswith(("socket.", "urllib.")):
        raise SystemExit(f"used {event}")
sys.addaudithook(refuse)
from agentbench_tui.model.answer import Usage
from agentbench_tui.scoring.prices import PriceTable
assert PriceTable().cost("gpt-4o-mini", None, Usage(1, 1)).usd
assert threading.active_count() == 1
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_prices_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("- {model: a, input: 1.5, output: 3}\n- {model: 'b*', input: 0, output: 0}\n")
    assert [price.model for price in read_prices(file)] == ["a", "b*"]
    file.write_text('[{"model": "a", "input": 1, "output": 2}]')
    assert read_prices(file)[0].output == 2
    file.write_text("- {model: a, input: -1, output: 3}\n- {model: b, outptu: 1}\n")
    with pytest.raises(SuiteError) as caught:
        read_prices(file)
    assert {problem.path for problem in caught.value.problems} >= {
        "0.input",
        "1.output",
        "1.outptu",
    }
    for text in ("a: b", "[", ""):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"prices\.yaml"):
            read_prices(file)


def test_money_is_not_lost_in_floats() -> None:
    usage = Usage(123_456, 7_890)
    exact = (Decimal(123_456) * 2 + Decimal(7_890) * 10) / 1_000_000
    assert PriceTable([GIVEN]).cost("mine-1", None, usage).usd == pytest.approx(
        float(exact), rel=1e-12
    )


def test_only_a_price_of_every_model_applies_where_no_model_is_named() -> None:
    every = Price(model="*", input=3.0, output=5.0)
    narrow = Price(model="m*", input=100.0, output=100.0)
    table = PriceTable([narrow, every])
    assert table.cost(None, None, Usage(1000, 100)).usd == pytest.approx(0.0035)
    assert table.cost("other", None, Usage(1000, 100)).usd == pytest.approx(0.0035)
    assert table.cost("mine", None, Usage(1000, 100)).usd == pytest.approx(0.11)
    assert [price.model for price in table.used_prices()] == ["*", "mine", "other"]
    unknown = PriceTable([narrow]).cost(None, None, Usage(1000, 100))
    assert (unknown.usd, unknown.reason) == (None, "the agent did not say which model it used")
