"""Chooses a scorer that fits a file's expected answers, and the prompt that it needs.

A scorer is proposed only if it gives an answer that repeats the expected one the full value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.model.errors import AgentbenchError

_TRIED = 200
_LABELS, _LABEL_SHARE = 10, 0.2
"""A classification has at most 10 labels, and five cases of each on average."""
_SHORT = 60
_WORKED = "####"
_NUMBER = re.compile(rf"[-+−$€£]?[\d.,  ]*\d\s*%?|[\s\S]*{_WORKED}\s*\S+\s*")
"""A text that is one number, or ends with one after `####`, as of GSM8K."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How to score answers."""

    scorer: str | Mapping[str, Any] | None
    prompt: str | None
    """Prompt that lets the scorer work; None if the input is sent unchanged."""
    why: str


def proposed_scorer(
    expected: Sequence[Any],
    *,
    choices: int | None = None,
    has_lists: bool = False,
    are_lettered: bool = True,
    asks_in_chat: bool = False,
) -> Judged:
    """Return the strictest scorer that fits all these expected answers.

    `choices` is the number of choices in the input; with `has_lists` each case has their texts,
    and unless `are_lettered`, the input lists them without letters. A dialogue (`asks_in_chat`) is
    sent unchanged, without a prompt.
    """
    found = _fitting(expected, choices, has_lists=has_lists, are_lettered=are_lettered)
    if asks_in_chat:
        return Judged(found.scorer, None, found.why)
    return found


def _fitting(
    expected: Sequence[Any], choices: int | None, *, has_lists: bool, are_lettered: bool
) -> Judged:
    texts = [one for one in expected if isinstance(one, str)]
    only_texts = len(texts) == len(expected)
    if all(map(_is_calls, expected)):
        return Judged("tool_calls", None, "the expected answers are calls of tools")
    if choices:
        scorer: str | dict[str, Any] = "multiple_choice"
        if not has_lists:
            scorer = {"multiple_choice": {"choices": choices}}
        if has_lists or _gives_full_value(scorer, expected):
            part = "letter" if are_lettered else "text"
            asked = _asked(f"the {part} of the right choice")
            return Judged(scorer, asked, "the records list choices")
    if all(isinstance(one, bool) for one in expected):
        return Judged(
            "normalized", _one_of(["false", "true"]), "the expected answers are true or false"
        )
    if only_texts and _are_letters(texts):
        count = 1 + max(ascii_uppercase.index(one.strip().upper()) for one in texts)
        letters = {"multiple_choice": {"choices": max(4, count)}}
        return Judged(
            letters, _asked("the letter of the right choice"), "the expected answers are letters"
        )
    if all(map(_is_number, expected)) and _gives_full_value("numeric", expected):
        # Expected answers with a way of solution let the agent have one too.
        is_worked = any(_WORKED in one for one in texts)
        prompt = None if is_worked else _asked("the number")
        end = " at the end" if is_worked else ""
        return Judged("numeric", prompt, f"the expected answers are numbers{end}")
    if any(isinstance(one, dict) for one in expected):
        return Judged("json_subset", _asked("JSON"), "the expected answers are structured data")
    if all(isinstance(one, list) for one in expected):
        return Judged(
            "normalized",
            _asked("the answer"),
            "each list holds texts of which any is right; case and punctuation do not count",
        )
    if only_texts and _are_labels(texts):
        return Judged(
            "normalized",
            _one_of(sorted(set(texts))),
            f"the expected answers are {len(set(texts))} labels",
        )
    if only_texts and sum(len(one) <= _SHORT for one in texts) >= 0.9 * len(texts):
        return Judged(
            "normalized",
            _asked("the answer"),
            "the expected answers are short texts; case and punctuation do not count",
        )
    return Judged(
        "token_f1",
        None,
        "the expected answers are long texts. It counts words in common, not meaning:"
        " `model_graded` asks a model to judge",
    )


def _one_of(labels: Sequence[str]) -> str:
    return f"{{input}}\n\nAnswer with one of these only: {', '.join(labels)}"


def _asked(what: str) -> str:
    return f"{{input}}\n\nAnswer with nothing but {what}."


def _is_calls(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(one, Mapping) and ("function" in one or {"name", "arguments"} <= set(one))
            for one in value
        )
    )


def _are_letters(texts: Sequence[str]) -> bool:
    letters = {one.strip().upper() for one in texts}
    return len(letters) > 1 and all(
        len(one) == 1 and one in ascii_uppercase[:10] for one in letters
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(value.strip()))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_labels(texts: Sequence[str]) -> bool:
    labels = set(texts)
    # A brace in a label would be read as a field by the prompt.
    is_plain = all(len(one) <= _SHORT and one.isprintable() and "{" not in one for one in labels)
    return is_plain and 1 < len(labels) <= min(_LABELS, _LABEL_SHARE * len(texts))


def _gives_full_value(spec: str | Mapping[str, Any], expected: Sequence[Any]) -> bool:
    """Return whether the scorer accepts each expected answer as an answer."""
    from agentbench_tui.scoring.registry import make_scorer

    try:
        scorer = make_scorer(spec)
        for number, one in enumerate(expected[:_TRIED]):
            case = Case(id=str(number), input="", expected=one)
            score = scorer.score(case, Answer(text=str(one)))
            if not isinstance(score, Score) or not score.correct:
                return False
    except (AgentbenchError, GraderFailure):
        return False
    return True
