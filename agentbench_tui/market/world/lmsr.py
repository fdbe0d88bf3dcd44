"""Hanson's logarithmic market scoring rule (2003) for two outcomes, with liquidity b in shares.

A market's state is its net: YES minus NO shares outstanding; for the NO side pass the net negated.
With q the two shares, C(q) = b ln(e^(q_yes/b) + e^(q_no/b)), and C - q_no depends on the net only.
Money is in dollars; a winning share pays 1. Finite for any finite state: exponents are never > 0.
"""

from __future__ import annotations

import math


def cost(q_yes: float, q_no: float, b: float) -> float:
    """Return C(q): total payments for the outstanding shares, plus b ln 2."""
    high, low = max(q_yes, q_no), min(q_yes, q_no)
    return high + b * math.log1p(math.exp((low - high) / b))


def price(net: float, b: float) -> float:
    """Return the price of a YES share, 0..1."""
    if net >= 0:
        return 1.0 / (1.0 + math.exp(-net / b))
    odds = math.exp(net / b)
    return odds / (1.0 + odds)


def cost_of(net: float, shares: float, b: float) -> float:
    """Return the dollars that `shares` of the outcome with net `net` cost; negative shares are
    sold.
    """
    return cost(net + shares, 0.0, b) - cost(net, 0.0, b)


def shares_for(net: float, money: float, b: float) -> float:
    """Return the shares of the outcome with net `net` that `money` >= 0 buys: the inverse of
    `cost_of`.

    d = b ln((e^(m/b) - (1 - p)) / p), written so that it stays exact for p near 0 and for large m.
    """
    gain = money / b
    # e^gain - (1 - p) = p (1 + (e^gain - 1) / p); for large gain e^gain is taken out.
    log_p = -_softplus(-net / b)
    if gain < 1.0:
        return b * math.log1p(math.expm1(gain) * math.exp(-log_p)) if log_p > -700 else math.inf
    log_q = -_softplus(net / b)
    return b * (gain + math.log1p(-math.exp(log_q - gain)) - log_p)


def _softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))
