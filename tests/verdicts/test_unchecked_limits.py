"""Limits that could not be checked are told with the reason, each once."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.verdicts.cost.unchecked_limits import BY_THE_HOUR, unchecked_words

AGENTS = """
from agentbench_tui.model.answer import Answer, Usage
def whole(prompt):
    return Answer(prompt, usage=Usage(3, 2), cost_usd=0.001)
def unnamed(prompt):
    return Answer(prompt, usage=Usage(3, 2))
def half(prompt):
    return Answer(prompt, usage=Usage(None, 2))
def mute(prompt):
    return prompt
def failing(prompt):
    raise ValueError("no")
"""
NO_MODEL = "the agent did not say which model it used (4 answers)"
NO_TOKENS = "the agent did not say how many tokens it used (4 answers)"
NO_INPUT = "the agent did not say how many input tokens it used (4 answers)"
IN_PART = "the agent did not say all of its tokens (4 answers)"
LIMITS = {"cost_limit_usd": 1.0, "token_limit": 100}


def told(document: dict[str, Any], limit: str, of: str) -> dict[str, str]:
    return {
        one["agent_id"]: one["reason"]
        for one in document["unchecked_limits"]
        if (one["limit"], one["of"]) == (limit, of)
    }


async def test_limits_of_cases_are_told_of_whom_they_could_not_be_checked_for(
    tmp_path: Path,
) -> None:
    names = ("whole", "unnamed", "half", "mute", "failing")
    found = await run(tmp_path, suite(4, constraints=LIMITS), AGENTS, *names)
    document = found.document
    assert told(document, "cost_limit_usd", "case") == {
        "unnamed": NO_MODEL, "half": NO_INPUT, "mute": NO_TOKENS,
    }  # fmt: skip
    assert told(document, "token_limit", "case") == {"half": IN_PART, "mute": NO_TOKENS}
    assert not told(document, "cost_limit_usd", "run")
    assert f"`cost_limit_usd` could not be checked for unnamed on benchmark echo: {NO_MODEL}" in [
        *unchecked_words(document)
    ]


async def test_without_limits_nothing_is_told(tmp_path: Path) -> None:
    found = await run(tmp_path, suite(4), AGENTS, "unnamed", "mute")
    assert found.document["unchecked_limits"] == []


async def test_caps_of_the_run_are_told_once_for_all_points_of_a_sweep(tmp_path: Path) -> None:
    swept = suite(4, sweep={"parameters": {"n": [1, 2, 3]}}, parameters={"n": 0})
    found = await run(
        tmp_path, swept, AGENTS, "mute", "unnamed", "whole", cost_limit_usd=5.0, token_limit=10_000
    )
    document = found.document
    assert told(document, "cost_limit_usd", "run") == {"mute": NO_TOKENS, "unnamed": NO_MODEL}
    assert told(document, "token_limit", "run") == {"mute": NO_TOKENS}
    assert len(document["unchecked_limits"]) == 3
    assert [*unchecked_words(document)][-1].startswith("the cap on the cost of the run")


async def test_agents_with_one_reason_share_a_sentence(tmp_path: Path) -> None:
    code = AGENTS + "silent = mute\n"
    found = await run(tmp_path, suite(4, constraints={"token_limit": 9}), code, "mute", "silent")
    assert [*unchecked_words(found.document)] == [
        f"`token_limit` could not be checked for mute, silent on benchmark echo: {NO_TOKENS}"
    ]


@pytest.mark.parametrize("limit", ["cost_limit_usd", "token_limit"])
async def test_an_agent_that_is_paid_by_the_hour_has_no_cost_to_limit(
    tmp_path: Path, limit: str
) -> None:
    found = await run(
        tmp_path, suite(4, constraints=LIMITS), AGENTS, "unnamed", hourly_price_usd=2.0
    )
    reasons = {"cost_limit_usd": {"unnamed": BY_THE_HOUR}, "token_limit": {}}
    assert told(found.document, limit, "case") == reasons[limit]
    assert json.dumps(found.document["remarks"]) == "[]"
