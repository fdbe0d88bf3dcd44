"""Validates a scorer's result, because scorers may be third-party code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agentbench_tui.model.answer import GraderFailure, Score
from agentbench_tui.model.errors import did_you_mean


def as_score(result: object, name: str) -> Score:
    """Convert a bool, a number in 0..1, a mapping of fields of Score, or a Score to a Score of that
    name; numbers of numpy are accepted.

    Raises GraderFailure for anything else, and for fields that are of another type: the store
    would refuse them, and with them the run.
    """
    if type(result) is Score and result.scorer == name and _is_sound(result):
        return result
    result = _plain(result)
    if isinstance(result, Score):
        return _of_fields(msgspec.structs.asdict(result), name)
    if isinstance(result, bool | int | float):
        return _of_fields({"value": float(result)}, name)
    if not isinstance(result, Mapping):
        raise GraderFailure(f"returned {type(result).__name__}, not bool, number or Score")
    unknown = [key for key in result if key not in Score.__struct_fields__]
    if unknown:
        hint = did_you_mean(str(unknown[0]), Score.__struct_fields__)
        raise GraderFailure(f'returned "{unknown[0]}", which no score has{hint}')
    return _of_fields(result, name)


def _is_sound(score: Any) -> bool:
    """Return whether a score is certainly valid, as agentbench's own mostly are; the full
    validation takes a tenth of a case's cost.
    """
    return (
        type(score.value) is float
        and 0 <= score.value <= 1
        and type(score.correct) is bool
        and type(score.reason) is str
        and score.correctness is score.completeness is score.relevance is None
        and type(score.metadata) is dict
        and not score.metadata
    )


def _of_fields(given: Mapping[str, Any], name: str) -> Score:
    """Build a score; if only one of value and correctness is given, derive the other."""
    fields = {field: _plain(value) for field, value in given.items()}
    value, correct = fields.get("value"), fields.get("correct")
    if "value" not in fields and isinstance(correct, bool):
        fields["value"] = float(correct)
    if "correct" not in fields and isinstance(value, int | float):
        fields["correct"] = value >= 1
    try:
        score = msgspec.convert({**fields, "scorer": name}, Score)
    except msgspec.ValidationError as error:
        raise GraderFailure(f"returned an invalid score: {error}") from error
    if not 0 <= score.value <= 1:
        raise GraderFailure(f"returned {score.value}, which is not in 0..1")
    return score


def _plain(value: Any) -> Any:
    """Convert a number of numpy to Python's own; return anything else unchanged."""
    return value.item() if getattr(value, "shape", None) == () else value
