"""Wrong answers that contain the expected one: such an answer may be right, but longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.scoring.former_names import with_current_name
from agentbench_tui.store.queries.answers import wrong_texts_with_expected

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

WHOLE_TEXT_SCORERS = frozenset({"exact", "normalized"})
"""Scorers that compare whole texts, so that an answer in a sentence is wrong."""
MOST_CHECKED = 1_000
"""Maximum number of answers that are checked; with more, the count is a lower bound."""


def contained_answers(
    connection: sqlite3.Connection, execution_key: int, scorers: Sequence[Any]
) -> int | None:
    """Return how many wrong answers contain the expected text as whole words.

    None unless the only scorer compares whole texts. A single letter is no evidence: `A` is an
    article.
    """
    current = [with_current_name(spec) for spec in scorers]
    names = [name for spec in current for name in ([spec] if isinstance(spec, str) else spec)]
    if len(scorers) != 1 or WHOLE_TEXT_SCORERS.isdisjoint(names):
        return None
    found = wrong_texts_with_expected(connection, execution_key, MOST_CHECKED)
    return sum(_contains(actual, expected) for expected, actual in found)


def _contains(actual: str, expected: str) -> bool:
    from agentbench_tui.scoring.text.normal import normalizer
    from agentbench_tui.scoring.text.words import whole_words  # compiles large patterns

    if len(expected.strip()) < 2 and not expected.strip().isdigit():
        return False
    form = normalizer(punctuation=False, articles=False)
    return whole_words(form(expected)).search(form(actual)) is not None
