"""Reasons for unknown tokens and costs, and notes on estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.agents.target import named_model
from agentbench_tui.model.answer import Usage
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.answers import commonest_unpriced

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.store.answer_counts import AnswerCounts

ESTIMATED = "estimated"
"""Prefix of the reason for an estimated cost."""


def why_unknown(connection: sqlite3.Connection, execution_key: int, agent: AgentSpec) -> str:
    """The commonest reason for which answers of an execution have no cost, and how often."""
    from agentbench_tui.scoring.prices import PriceTable

    given, made, model, count = commonest_unpriced(connection, execution_key)
    model = model or named_model(agent)
    usage = Usage(1 if given else None, 1 if made else None)
    reason = PriceTable().cost(model, None, usage).reason or f"{model} had no price at the time"
    return f"{reason} ({counted(count, 'answer')})"


def why_estimated(counts: AnswerCounts) -> str | None:
    """Note that agentbench counted the tokens behind a cost; None if the server counted all of
    them.
    """
    if not counts.costs_estimated:
        return None
    answers = counted(counts.costs_estimated, "answer")
    return f"{ESTIMATED}: the tokens of {answers} were counted here, not by the server"


def why_tokens_estimated(counts: AnswerCounts) -> str | None:
    """Note that agentbench counted the output tokens; None if the server counted all of them."""
    if not counts.tokens_estimated:
        return None
    answers = counted(counts.tokens_estimated, "answer")
    return f"{ESTIMATED}: the output tokens of {answers} were counted here, not by the server"


def why_tokens_partial(counts: AnswerCounts) -> str | None:
    """That the input tokens of answers are not known; None when those of all answers are."""
    if not counts.input_unknown:
        return None
    return f"the input tokens of {counted(counts.input_unknown, 'answer')} are not known"
