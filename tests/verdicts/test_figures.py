"""Numbers on screens and tables: none has an exponent, however large or small it is."""

import pytest

from agentbench_tui.model.gate import parse_gate
from agentbench_tui.verdicts.words.figures import dollars, milliseconds, rate


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "$1,234.50"),
        (0.0, "$0.00"),
        (0.5, "$0.50"),
        (0.00001234, "$0.000012"),
        (6.14e-07, "$0.00000061"),
    ],
)
def test_money(value: float, text: str) -> None:
    assert dollars(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(12_345, "12.3 s"), (123.4, "123 ms"), (99.96, "100 ms"), (1.5, "1.50 ms"),
     (0.00002, "0.0000200 ms")],
)  # fmt: skip
def test_times(value: float, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2_000_000, "2,000,000"), (12.3456, "12.35"), (0.00002, "0.00002")]
)
def test_rates(value: float, text: str) -> None:
    assert rate(value) == text


@pytest.mark.parametrize("text", ["tokens_used<=1234567", "cost_usd<0.00001", "accuracy>=0.8"])
def test_a_gate_is_told_as_it_was_written(text: str) -> None:
    gate = parse_gate(text)
    assert str(gate) == text
    assert parse_gate(str(gate)) == gate
