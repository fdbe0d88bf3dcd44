"""Answers that people have labeled right or wrong, and what a scorer says of the same answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.engine.cases.records import open_records
from agentbench_tui.model.answer import Answer, Case, GraderFailure
from agentbench_tui.model.errors import UsageError, did_you_mean, message_of, named
from agentbench_tui.scoring.returned import as_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from agentbench_tui.scoring.registry import NamedScorer

AT_ONCE = 4
"""Answers that are judged at the same time."""
FIELDS: dict[str, tuple[str, ...]] = {
    "answer": ("answer", "output", "response", "completion"),
    "label": ("label", "human", "right", "correct", "is_correct", "passed"),
    "input": ("input", "question", "prompt"),
    "expected": ("expected", "reference", "target"),
    "id": ("id", "case_id"),
}
"""Part of a labeled answer → fields that it is read from, the first that a record has."""
_EMPTY = {"answer": (None,), "label": (None, "")}
"""Part of a labeled answer → values that say nothing. An empty text is an answer."""
_RIGHT = ("true", "1", "1.0", "yes", "right", "correct", "pass", "passed", "good")
_WRONG = ("false", "0", "0.0", "no", "wrong", "incorrect", "fail", "failed", "bad")
_LABELS = dict.fromkeys(_RIGHT, True) | dict.fromkeys(_WRONG, False)


@dataclass(frozen=True, slots=True)
class LabeledAnswer:
    """An answer to a case with the judgment of a person."""

    case: Case
    answer: Answer
    is_right: bool


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A labeled answer and what a scorer says of it."""

    labeled: LabeledAnswer
    said_right: bool | None
    """None if the scorer failed."""
    value: float | None
    reason: str


def read_labeled(path: Path, label: str | None = None) -> list[LabeledAnswer]:
    """Read labeled answers from a file of records (CSV, JSON Lines, JSON or Parquet).

    `label` names the field of the label. Raises UsageError, with the line, for a record without
    answer or label, and for a label that is neither right nor wrong.
    """
    fields = FIELDS if label is None else FIELDS | {"label": (label,)}
    found = [
        _labeled(record.data, f"{path}:{record.number}", record.number, fields)
        for record in open_records(f"file:{path}", path.parent, _no_generator).read()
    ]
    if not found:
        raise UsageError(f"{path}: it has no labeled answers")
    return found


async def judge_labeled(
    scorer: NamedScorer, labeled: Sequence[LabeledAnswer]
) -> list[JudgedAnswer]:
    """Return what the scorer says of each answer, in order; the scorer is closed."""
    places = asyncio.Semaphore(AT_ONCE)

    async def judged(one: LabeledAnswer) -> JudgedAnswer:
        async with places:
            return await _judged(scorer, one)

    try:
        return list(await asyncio.gather(*map(judged, labeled)))
    finally:
        await scorer.close()


async def _judged(scorer: NamedScorer, one: LabeledAnswer) -> JudgedAnswer:
    try:
        result: Any = scorer.score(one.case, one.answer)
        if asyncio.iscoroutine(result):
            result = await result
        score = as_score(result, scorer.name)
    except GraderFailure as failure:
        return JudgedAnswer(one, None, None, message_of(failure))
    except Exception as error:  # noqa: BLE001  # a scorer may be anyone's code
        return JudgedAnswer(one, None, None, named(error))
    return JudgedAnswer(one, score.correct, score.value, score.reason)


def _labeled(
    record: Mapping[str, Any], place: str, number: int, fields: Mapping[str, tuple[str, ...]]
) -> LabeledAnswer:
    given = {
        part: next((record[name] for name in names if record.get(name) is not None), None)
        for part, names in fields.items()
    }
    for part in ("answer", "label"):
        empty = next((name for name in fields[part] if name in record), None)
        if given[part] in _EMPTY[part] and empty is not None:
            raise UsageError(f"{place}: `{empty}` is empty; fill it in, or leave the record out")
        if given[part] is None:
            names = ", ".join(fields[part])
            near = did_you_mean(fields[part][0], [str(name) for name in record])
            raise UsageError(f"{place}: no field for the {part}: expected {names}{near}")
    label = _LABELS.get(str(given["label"]).strip().lower())
    if label is None:
        raise UsageError(
            f"{place}: the label is {given['label']!r:.40}; expected right or wrong, true or false,"
            " 1 or 0"
        )
    answer = given["answer"]
    case = Case(str(given["id"] or number), given["input"] or "", expected=given["expected"])
    said = Answer(text=answer) if isinstance(answer, str) else Answer(data=answer)
    return LabeledAnswer(case, said, label)


def _no_generator(place: str) -> Iterator[Any]:
    raise UsageError(f"{place}: expected a file of labeled answers")
