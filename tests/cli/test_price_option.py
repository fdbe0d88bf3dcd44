"""`--price IN/OUT`, and the bill of each agent in `cost`."""

import json
from pathlib import Path
from typing import Any

import pytest
from processes import Place, make_place

AGENTS = """
from agentbench_tui.model.answer import Answer, Usage
def small(prompt):
    usage = Usage(input_tokens=1000, cached_tokens=400, output_tokens=100, reasoning_tokens=60)
    return Answer(prompt, usage=usage)
def large(prompt):
    return Answer(prompt, usage=Usage(input_tokens=2000, output_tokens=200), model="big")
def silent(prompt):
    return prompt
"""
RUN = ("run", "suite.json", "--no-ui", "--format", "json")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.suite(8)
    (tmp_path / "agents.py").write_text(AGENTS)
    return made


def agents(*names: str) -> list[str]:
    return [part for name in names for part in ("--agent", f"{name}=python:agents.py:{name}")]


def bills(place: Place) -> dict[str, Any]:
    document = json.loads(place.run("cost", "--format", "json").stdout)
    return {one["name"]: one for one in document["bills"]}


def test_a_price_in_dollars_per_million_tokens_is_applied_and_billed(place: Place) -> None:
    run = (*RUN, *agents("small", "large"), "--price", "0.5/1.5/0.1", "--price", "big=2/8")
    assert place.run(*run).returncode == 0
    small, large = (bills(place)[name] for name in ("small", "large"))
    # 8 x (600 x 0.5 + 400 x 0.1 + 100 x 1.5) / 1e6 and 8 x (2000 x 2 + 200 x 8) / 1e6
    assert small["cost_usd"] == pytest.approx(8 * 490e-6)
    assert large["cost_usd"] == pytest.approx(8 * 5600e-6)
    kinds = ("answers", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
    assert [small[kind] for kind in kinds] == [8, 8000, 3200, 800, 480]
    assert [large[kind] for kind in kinds] == [8, 16000, None, 1600, None]
    assert [one["model"] for one in small["prices"]] == ["*"]
    (price,) = large["prices"]
    assert (price["model"], price["input_usd_per_mtok"], price["source"]) == ("big", 2, "--price")

    printed = place.run("cost").stdout
    assert "0.5/1.5/0.1 (--price)" in printed
    assert "big 2/8 (--price)" in printed
    assert "cached is part of input; reasoning is part of output" in printed


def test_an_unknown_total_has_its_reason(place: Place) -> None:
    place.run(*RUN, *agents("small", "silent"), "--price", "0.5/1.5")
    silent = bills(place)["silent"]
    assert (silent["cost_usd"], silent["input_tokens"]) == (None, None)
    assert "did not say how many tokens it used" in silent["reason"]


def test_a_load_takes_the_narrowest_price_first(place: Place) -> None:
    prices = ("--price", "1/2", "--price", "m*=3/4", "--price", "m1=5/6")
    done = place.run("load", "mock", *prices, "--print-suite")
    written = done.stdout.partition("prices:")[2]
    assert [written.index(model) for model in ("m1", "m*", "'*'")] == sorted(
        written.index(model) for model in ("m1", "m*", "'*'")
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("1",), "expected [MODEL=]INPUT/OUTPUT[/CACHED] in USD per million tokens"),
        (("-1/2",), "expected [MODEL=]INPUT/OUTPUT[/CACHED]"),
        (("a/b",), "such as 0.5/1.5"),
        (("1/2", "3/4"), "two prices for every model; name the models"),
        (("m=1/2", "m=3/4"), "two prices for model m"),
    ],
)
def test_a_wrong_price_says_what_is_expected(
    place: Place, given: tuple[str, ...], words: str
) -> None:
    options = [part for one in given for part in ("--price", one)]
    done = place.run(*RUN, *agents("small"), *options)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
