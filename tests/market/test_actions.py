"""Methods of a market: what is taken, and how what is wrong is told."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest

from agentbench_tui.market.play.actions import (
    INVALID_PARAMS,
    METHODS,
    UNKNOWN_METHOD,
    MethodError,
    find_method,
)

BUY = {"marketId": "market-0", "outcome": "YES", "amount": 10}
OPEN = {"ticker": "BTC", "side": "LONG", "size": 100, "leverage": 2}


def test_the_methods_of_the_original_are_there_and_forecasts() -> None:
    assert [name.removeprefix("a2a.") for name in METHODS] == [
        *("getPredictions", "buyShares", "sellShares", "getPerpetuals", "openPosition"),
        *("closePosition", "getFeed", "createPost", "getChats", "joinGroup", "getBalance"),
        *("getPortfolio", "getPositions", "getDashboard", "getTrendingTags", "submitForecast"),
    ]


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("a2a.buyShares", {**BUY, "amount": "abc"}, "amount"),
        ("a2a.buyShares", {**BUY, "amount": -5}, "amount"),
        ("a2a.buyShares", {**BUY, "amount": 0}, "amount"),
        ("a2a.buyShares", {**BUY, "amount": math.nan}, "amount"),
        ("a2a.buyShares", {**BUY, "amount": math.inf}, "amount"),
        ("a2a.buyShares", {**BUY, "amount": 10**400}, "amount"),
        ("a2a.openPosition", {**OPEN, "leverage": -(10**400)}, "leverage"),
        ("a2a.buyShares", {**BUY, "amount": True}, "amount"),
        ("a2a.buyShares", {**BUY, "outcome": "MAYBE"}, "outcome"),
        ("a2a.buyShares", {"outcome": "YES", "amount": 5}, "marketId"),
        ("a2a.buyShares", {**BUY, "ammount": 5}, "ammount"),
        ("a2a.buyShares", {**BUY, "marketId": "m" * 65}, "marketId"),
        ("a2a.openPosition", {**OPEN, "leverage": 1.5}, "leverage"),
        ("a2a.openPosition", {**OPEN, "leverage": 0}, "leverage"),
        ("a2a.openPosition", {**OPEN, "side": "UP"}, "side"),
        ("a2a.submitForecast", {"marketId": "market-0", "probability": 1.1}, "probability"),
        ("a2a.createPost", {"content": "  "}, "content"),
        ("a2a.getFeed", {"limit": 0}, "limit"),
    ],
)
def test_a_wrong_parameter_is_refused_by_its_path(
    method: str, params: dict[str, Any], path: str
) -> None:
    with pytest.raises(MethodError) as caught:
        METHODS[method].check(params)
    assert caught.value.code == INVALID_PARAMS
    assert caught.value.path == path
    assert caught.value.data() == {"reason": "invalid_params", "path": path}
    assert path in caught.value.message


def test_a_side_is_understood_in_any_case() -> None:
    """The original booked `long` as a short."""
    assert METHODS["a2a.openPosition"].check({**OPEN, "side": "long"})["side"] == "LONG"
    assert METHODS["a2a.buyShares"].check({**BUY, "outcome": "no"})["outcome"] == "NO"


def test_parameters_that_are_no_object_are_refused() -> None:
    with pytest.raises(MethodError, match="object"):
        METHODS["a2a.buyShares"].check([1, 2])


def test_an_unknown_method_is_told_with_the_nearest() -> None:
    with pytest.raises(MethodError, match=r"a2a\.buyShares") as caught:
        find_method("a2a.buyShare")
    assert caught.value.code == UNKNOWN_METHOD


@pytest.mark.parametrize("name", METHODS)
def test_schemas_are_json_schemas_that_agree_with_the_checks(name: str) -> None:
    schema = METHODS[name].schema()
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for params in (BUY, OPEN, {}, {"content": "x"}, {"groupId": "g"}, {"shares": 1}):
        try:
            METHODS[name].check(params)
            taken = True
        except MethodError:
            taken = False
        assert validator.is_valid(params) is taken
