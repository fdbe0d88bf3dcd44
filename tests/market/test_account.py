"""Money and positions: nothing is lost, nothing comes from nowhere, nothing goes below zero."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_worlds import tiny_world, truth_of

from agentbench_tui.market.play.account import Account, Limits
from agentbench_tui.market.play.actions import (
    INSUFFICIENT_BALANCE,
    POSITION_LIMIT,
    MethodError,
)
from agentbench_tui.market.play.game import Game
from agentbench_tui.market.world.world import DOLLAR, Rules


def test_a_share_is_bought_at_the_price_of_the_scoring_rule() -> None:
    """b = 100 at price 1/2: $50 buys 100 ln(2 e^0.5 - 1) = 83.18 shares."""
    account = Account(tiny_world())
    trade = account.buy(0, 0, 1, 50 * DOLLAR, 0, 100)
    assert trade.shares == pytest.approx(1e5 * math.log(2 * math.exp(0.5) - 1), abs=1)
    assert account.cash == 9_950 * DOLLAR


def test_selling_at_once_gives_the_money_back() -> None:
    account = Account(tiny_world())
    trade = account.buy(0, 0, -1, 300 * DOLLAR, 40_000, 100)
    account.sell(0, 0, -1, trade.shares, 40_000, 100)
    assert 0 <= 10_000 * DOLLAR - account.cash <= 1_000  # a thousandth of a share, rounded


def test_a_winning_share_pays_a_dollar_and_a_losing_one_nothing() -> None:
    for outcome, paid in ((True, 83_179), (False, 0)):
        account = Account(tiny_world())
        account.buy(0, 0, 1, 50 * DOLLAR, 0, 100)
        assert account.settle(0, outcome) == paid * 1_000


def test_fees_are_taken_from_the_money_of_a_trade() -> None:
    account = Account(tiny_world(rules=Rules(market_fee_ppm=10_000)))
    trade = account.buy(0, 0, 1, 100 * DOLLAR, 0, 100)
    assert (trade.fee, trade.money, account.fees) == (DOLLAR, 99 * DOLLAR, DOLLAR)


def test_a_long_gains_with_the_price_times_its_size_not_its_leverage() -> None:
    """$1,000 at 100, closed at 110: +100; fees of 5 bp on 1,000 and on 1,100."""
    account = Account(tiny_world())
    position = account.open(0, 0, 1, 1_000 * DOLLAR, 5, 100 * DOLLAR)
    assert position.margin == 200 * DOLLAR
    trade = account.close(1, position, 110 * DOLLAR, "closed")
    assert trade.gain == 100 * DOLLAR
    assert trade.pnl == 100 * DOLLAR - 500_000 - 550_000
    assert account.cash == 10_000 * DOLLAR + trade.pnl


def test_longs_pay_positive_funding_and_shorts_get_it() -> None:
    account = Account(tiny_world())
    for side, amount in ((1, -2 * DOLLAR), (-1, 2 * DOLLAR)):
        position = account.open(0, 0, side, 1_000 * DOLLAR, 5, 100 * DOLLAR)
        account.fund(position, 200 * DOLLAR, 1_000_000)  # a thousandth of 2,000
        assert position.funding == amount


def test_nothing_is_bought_without_balance_and_nothing_sold_that_is_not_held() -> None:
    account = Account(tiny_world(b=100_000))
    with pytest.raises(MethodError) as caught:
        account.buy(0, 0, 1, 10_001 * DOLLAR, 0, 100_000)
    assert caught.value.code == INSUFFICIENT_BALANCE
    with pytest.raises(MethodError) as caught:
        account.sell(0, 0, 1, 1, 0, 100)
    assert caught.value.code == INSUFFICIENT_BALANCE
    with pytest.raises(MethodError, match="leverage"):
        account.open(0, 0, 1, DOLLAR, 11, 100 * DOLLAR)
    assert account.total == account.cash == 10_000 * DOLLAR


def test_positions_stay_within_the_public_limits() -> None:
    world = tiny_world()
    assert Limits.of(world) == Limits(5_000_000, 25_000 * DOLLAR)
    account = Account(world)
    with pytest.raises(MethodError) as caught:
        account.buy(0, 0, 1, 5_000 * DOLLAR, 0, 100)
    assert caught.value.code == POSITION_LIMIT
    account.open(0, 0, 1, 24_000 * DOLLAR, 10, 100 * DOLLAR)
    with pytest.raises(MethodError) as caught:
        account.open(0, 0, -1, 1_001 * DOLLAR, 10, 100 * DOLLAR)
    assert caught.value.code == POSITION_LIMIT


def test_a_loss_beyond_the_margin_is_borne_by_the_exchange() -> None:
    account = Account(tiny_world())
    position = account.open(0, 0, 1, 1_000 * DOLLAR, 10, 100 * DOLLAR)
    trade = account.close(1, position, 50 * DOLLAR, "liquidated")
    assert account.cash == 10_000 * DOLLAR - 100 * DOLLAR - 500_000
    assert trade.pnl == account.cash - 10_000 * DOLLAR


TRADES = st.tuples(
    st.sampled_from(
        ("a2a.buyShares", "a2a.sellShares", "a2a.openPosition", "a2a.closePosition", "next")
    ),
    st.sampled_from(("YES", "NO")),
    st.floats(0.0001, 9_000.0),
    st.integers(1, 10),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(TRADES, max_size=40),
    st.lists(st.integers(-400, 400), min_size=9, max_size=9),
    st.lists(st.floats(20.0, 200.0), min_size=9, max_size=9),
    st.integers(0, 20_000),
    st.booleans(),
)
def test_money_is_conserved_whatever_an_agent_does(
    trades: list[tuple[str, str, float, int]],
    flow: list[int],
    marks: list[float],
    fee_ppm: int,
    outcome: bool,
) -> None:
    rules = Rules(market_fee_ppm=fee_ppm)
    world = tiny_world([flow], marks=[marks], funding=[500_000] * 9, rules=rules)
    game = Game(world, truth_of(world, outcome).outcomes)
    account = game.account
    for method, side, amount, whole in trades:
        if method == "next":
            game.advance()
        params = {
            "a2a.buyShares": {"marketId": "market-0", "outcome": side, "amount": amount},
            "a2a.sellShares": {"marketId": "market-0", "outcome": side, "shares": amount / 20},
            "a2a.openPosition": {
                "ticker": "P0",
                "side": "LONG" if side == "YES" else "SHORT",
                "size": amount,
                "leverage": whole,
            },
            "a2a.closePosition": {"positionId": f"position-{whole}"},
        }.get(method)
        if params is not None:
            try:
                game.call(method, params)
            except MethodError:
                assert account.total == rules.balance
        assert account.total == rules.balance
        assert account.cash >= 0
    while not game.is_over:
        game.advance()
    episode = game.episode()
    assert account.total == rules.balance
    assert not account.perps
    assert account.cash == episode.equity[-1]
    won = sum(each.paid for each in episode.settlements)
    spent = sum(trade.money + trade.fee for trade in episode.trades)
    assert episode.pnl == won - spent + sum(trade.pnl for trade in episode.perp_trades)
    assert account.fees == sum(
        Fraction(trade.fee if hasattr(trade, "fee") else trade.fees)
        for trade in (*episode.trades, *episode.perp_trades)
    )
