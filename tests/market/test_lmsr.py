"""LMSR agrees with Hanson's formulas and keeps its promises for any state."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from agentbench_tui.market.world import lmsr

LIQUIDITY = st.floats(1.0, 1_000.0)
NETS = st.floats(-3_000.0, 3_000.0)


@given(st.floats(-5_000.0, 5_000.0), st.floats(-5_000.0, 5_000.0), LIQUIDITY)
def test_cost_is_b_times_the_log_of_the_summed_exponentials(
    yes: float, no: float, b: float
) -> None:
    expected = b * float(logsumexp([yes / b, no / b]))
    assert lmsr.cost(yes, no, b) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@given(NETS, LIQUIDITY)
def test_price_is_logistic_and_the_two_sides_add_up_to_one(net: float, b: float) -> None:
    assert lmsr.price(net, b) == pytest.approx(float(expit(net / b)), rel=1e-12)
    assert lmsr.price(net, b) + lmsr.price(-net, b) == pytest.approx(1.0, abs=1e-15)


def test_ten_shares_at_even_odds_cost_a_little_more_than_five_dollars() -> None:
    # By hand: 100 ln((e^0.1 + 1) / 2) = 5.12495...
    assert lmsr.cost_of(0.0, 10.0, 100.0) == pytest.approx(5.124947951362565, rel=1e-12)
    assert lmsr.price(0.0, 100.0) == 0.5


@given(NETS, st.floats(0.01, 10_000.0), st.floats(50.0, 1_000.0))
def test_the_shares_that_money_buys_cost_that_money(net: float, money: float, b: float) -> None:
    shares = lmsr.shares_for(net, money, b)
    assert lmsr.cost_of(net, shares, b) == pytest.approx(money, rel=1e-8)
    assert shares >= money - 1e-6


def test_money_buys_shares_by_the_closed_formula() -> None:
    net, money, b = 40.0, 25.0, 200.0
    price = float(expit(net / b))
    expected = b * math.log((math.exp(money / b) - (1 - price)) / price)
    assert lmsr.shares_for(net, money, b) == pytest.approx(expected, rel=1e-12)


@given(NETS, st.floats(-500.0, 500.0), LIQUIDITY)
def test_buying_and_selling_back_costs_nothing(net: float, shares: float, b: float) -> None:
    there = lmsr.cost_of(net, shares, b)
    assert there + lmsr.cost_of(net + shares, -shares, b) == pytest.approx(0.0, abs=1e-9)


@given(NETS, st.floats(0.0, 500.0), LIQUIDITY)
def test_a_pair_of_yes_and_no_costs_one_dollar(net: float, shares: float, b: float) -> None:
    yes = lmsr.cost_of(net, shares, b)
    no = lmsr.cost_of(-(net + shares), shares, b)
    assert yes + no == pytest.approx(shares, abs=1e-9)


@given(st.floats(0.0, 50_000.0), st.floats(50.0, 500.0))
def test_the_maker_loses_at_most_b_ln_2(shares: float, b: float) -> None:
    loss = shares - lmsr.cost_of(0.0, shares, b)
    assert loss <= b * 0.6931471805599453 + 1e-9
