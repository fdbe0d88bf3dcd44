"""Proposes a suite for a user's own data: fields, prompt and scorer, derived from its records.

The user can change everything: the suite written from a proposal states each choice and its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from agentbench_tui.engine.cases.case_mapping import look_up
from agentbench_tui.engine.cases.chat_format import CONVERSATIONS
from agentbench_tui.engine.cases.column_names import (
    ANSWER_KEYS,
    CHOICES,
    CONTEXTS,
    IDS,
    LIKELY_NAMES,
    OPTION,
    by_folded_name,
    folded_name,
)
from agentbench_tui.engine.cases.records import open_records
from agentbench_tui.engine.suite.proposed_scorer import Judged, proposed_scorer
from agentbench_tui.model.errors import Problem, SuiteError

LOOKED_AT = 1000
"""Records that a proposal is made from."""
_GROUPS = ("cluster", "group", "passage_id", "document_id", "doc_id", "context_id", "title", "repo")
_IN_TEMPLATE = re.compile(r"[A-Za-z_][\w-]*")
_MOST_CATEGORIES, _MOST_METADATA = 30, 6
_CATEGORY_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a question."""

    paths: Sequence[str]
    """Path of each in the record; empty if records have different numbers of choices."""
    listed_at: str
    """Path of the list of all; empty if each has a separate column."""
    count: int
    """The most that a record has."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposal for one data file."""

    records: int
    """Number of examined records."""
    has_more: bool
    """Whether the file has more records."""
    fields: Mapping[str, str]
    """Field of a case → path in the record, or template."""
    prompt: str | None
    scorer: str | Mapping[str, Any] | None
    """None without expected answers."""
    why: Mapping[str, str]
    """Why: a sentence for each of `input`, `expected`, `scorer`, `cluster` and `id` that needs
    one."""
    unused: tuple[str, ...]
    """Columns that nothing uses."""


def propose(file: Path) -> Proposal:
    """Examine the first records of a data file. Raises SuiteError if none can be read."""
    records, has_more = _first_records(file)
    return _Look(records, has_more).proposal()


def _first_records(file: Path) -> tuple[list[dict[str, Any]], bool]:
    try:
        source = open_records(str(file.absolute()), file.parent, _no_generator)
    except SuiteError as error:
        reason = error.problems[0].message.removeprefix(f"{file.absolute()}: ")
        raise SuiteError([Problem(reason, file=str(file))]) from None
    found: list[dict[str, Any]] = []
    fault = ""
    count = 0
    for record in islice(source.read(), LOOKED_AT + 1):
        count += 1
        if isinstance(record.data, dict):
            found.append(record.data)
        elif not fault:
            fault = f"line {record.number}: {record.fault or 'not a map of fields'}"
    if not found:
        reason = fault or "it has no records"
        raise SuiteError([Problem(reason, file=str(file))])
    return found[:LOOKED_AT], count > LOOKED_AT


def _no_generator(place: str) -> Iterator[Any]:
    raise AssertionError(place)  # a file is no generator


class _Look:
    """Examines the records of one file."""

    def __init__(self, records: Sequence[dict[str, Any]], has_more: bool) -> None:
        self._records = records
        self._has_more = has_more
        names = dict.fromkeys(str(name) for record in records for name in record)
        self._is_pair = len(names) == 2
        # A dot in a name would be read as a path.
        self._names = [name for name in names if "." not in name]
        self._fields: dict[str, str] = {}
        self._why: dict[str, str] = {}
        self._used: set[str] = set()

    def proposal(self) -> Proposal:
        """Propose fields, then how answers are scored, then how results are grouped."""
        if self._is_chat():
            judged = self._chat()
        elif {"prompt", "test", "entry_point"} <= set(self._names):
            judged = self._code()
        else:
            judged = self._question()
        self._id()
        self._cluster()
        self._metadata()
        unused = [name for name in self._names if name not in self._used]
        return Proposal(
            len(self._records),
            self._has_more,
            self._fields,
            judged.prompt,
            judged.scorer,
            {**self._why, **({"scorer": judged.why} if judged.why else {})},
            tuple(unused),
        )

    # Input and expected answer.

    def _is_chat(self) -> bool:
        return any(
            isinstance(self._records[0].get(key), list) for key in ("messages", CONVERSATIONS)
        )

    def _chat(self) -> Judged:
        key = "messages" if isinstance(self._records[0].get("messages"), list) else CONVERSATIONS
        self._used.update({key, "input", "expected", "tools"} & set(self._names))
        self._why["input"] = (
            f"the last turn of the user in `{key}`; the turns before it are sent too"
        )
        last = [_last_turn(record.get(key)) for record in self._records]
        answers = [turn for turn in last if turn is not None]
        own = self._column("expected")
        if own:
            self._why["expected"] = "`expected`"
            return proposed_scorer(own, asks_in_chat=True)
        if not answers:
            self._why["expected"] = "none: no dialogue ends with a turn of the assistant"
            return Judged(None, None, "")
        self._why["expected"] = "the assistant's last turn, which is never sent"
        return proposed_scorer(answers, asks_in_chat=True)

    def _code(self) -> Judged:
        self._fields |= {
            "input": "prompt",
            "expected.test": "test",
            "expected.entry_point": "entry_point",
            "expected.prompt": "prompt",
        }
        self._used.update({"prompt", "test", "entry_point"})
        self._why["expected"] = "the unit tests in `test`, called with `entry_point`"
        return Judged(
            "python_tests",
            "Complete this Python function. Answer with the whole function in one block of code."
            "\n\n{input}",
            "the records hold unit tests; the code of answers is run on this machine",
        )

    def _question(self) -> Judged:
        expected = self._expected()
        question = self._input(expected)
        choices = self._choices(expected)
        if question and not choices:
            self._map("input", question)
        if expected and expected != "expected":
            self._fields["expected"] = expected
        values = self._column(expected) if expected else []
        if not values:
            self._why["expected"] = "none: no column looks like the expected answer"
            return Judged(None, None, "")
        self._why["expected"] = f"`{expected}`"
        return proposed_scorer(
            values,
            choices=choices.count if choices else None,
            has_lists=bool(choices and choices.listed_at),
            are_lettered=bool(choices and choices.paths),
        )

    def _expected(self) -> str:
        """Return the column, or path in one, of the expected answer; empty without one."""
        by_name = by_folded_name(self._names)
        for name in ("expected", *ANSWER_KEYS, *LIKELY_NAMES["expected"]):
            if (found := by_name.get(name)) and self._column(found):
                self._used.add(found)
                if all(isinstance(one, dict) and "text" in one for one in self._column(found)):
                    return f"{found}.text"
                return found
        if self._is_pair and not set(by_name) & {"id", "task_id", *IDS}:
            question = self._input("")
            other = next((name for name in self._names if name != question), "")
            self._used.add(other)
            return other
        return ""

    def _input(self, expected: str) -> str:
        """Return the column of the question; empty if no text is left."""
        left = [name for name in self._names if name != expected.partition(".")[0]]
        by_name = by_folded_name(left)
        # An instruction with an input beside it, as of Alpaca.
        if {"instruction", "input"} <= set(by_name):
            return by_name["instruction"]
        for name in ("input", *LIKELY_NAMES["input"]):
            if (found := by_name.get(name)) and self._column(found):
                return found
        texts = {name: _mean_length(self._column(name)) for name in left}
        longest = max(texts, key=lambda name: texts[name], default="")
        return longest if longest and texts[longest] else ""

    def _map(self, field: str, question: str) -> None:
        """Map a case field to the question's column, preceded by its context, if there is one."""
        self._used.add(question)
        parts = [question]
        by_name = by_folded_name(self._names)
        if question.lower() == "instruction" and "input" in by_name:
            parts = [question, by_name["input"]]
        for name in CONTEXTS:
            found = by_name.get(name)
            if found and found not in self._used and self._is_text(found):
                parts.insert(0, found)
                break
        self._used.update(parts)
        if len(parts) > 1 and all(_IN_TEMPLATE.fullmatch(name) for name in parts):
            self._fields[field] = "\n\n".join(f"{{{name}}}" for name in parts)
            self._why[field] = " and ".join(f"`{name}`" for name in parts)
        else:
            if question != field:
                self._fields[field] = question
            self._why[field] = f"`{question}`"

    def _choices(self, expected: str) -> Choices | None:
        """Return choices that the records list, written into the input."""
        question = self._input(expected)
        found = self._listed_choices() or self._choice_columns(expected, question)
        if found is None or not question or not _IN_TEMPLATE.fullmatch(question):
            return None
        self._map("input", question)
        stem = self._fields.get("input", "input")
        stem = stem if "{" in stem else f"{{{stem}}}"
        lines = "\n".join(
            f"{letter}) {{{path}}}"
            for letter, path in zip(ascii_uppercase, found.paths, strict=False)
        )
        self._fields["input"] = f"{stem}\n\n{lines or f'Choices: {{{found.listed_at}}}'}"
        if found.listed_at:
            self._fields["metadata.choices"] = found.listed_at
        how = f"its {found.count} choices, by letter" if lines else "its choices"
        self._why["input"] = f"`{question}` and {how}"
        return found

    def _listed_choices(self) -> Choices | None:
        for name in self._names:
            if folded_name(name) not in CHOICES or not _IN_TEMPLATE.fullmatch(name):
                continue
            for path in (name, f"{name}.text"):
                lists = [look_up(record, path) for record in self._records]
                counts = {len(one) if isinstance(one, list) else 0 for one in lists}
                if min(counts) >= 2 and (most := max(counts)) <= len(ascii_uppercase):
                    self._used.add(name)
                    # A template with letters can list only equally many.
                    listed = range(most if len(counts) == 1 else 0)
                    return Choices([f"{path}.{place}" for place in listed], path, most)
        return None

    def _choice_columns(self, expected: str, question: str) -> Choices | None:
        """Return columns such as A, B, C, D or option_1, option_2."""
        found = [
            name
            for name in self._names
            if name not in {expected, question}
            and OPTION.fullmatch(folded_name(name))
            and _IN_TEMPLATE.fullmatch(name)
        ]
        if not 2 <= len(found) <= len(ascii_uppercase):
            return None
        self._used.update(found)
        return Choices(found, "", len(found))

    # What cases are told apart and grouped by.

    def _id(self) -> None:
        own = next((name for name in ("id", "task_id") if name in self._names), "")
        candidates = [own] if own else []
        candidates += [
            name for name in self._names if folded_name(name) in IDS and name not in self._used
        ]
        for name in candidates:
            values = [record.get(name) for record in self._records]
            if all(isinstance(one, str | int) and str(one).strip() for one in values) and len(
                set(map(str, values))
            ) == len(values):
                self._used.add(name)
                if name != own:
                    self._fields["id"] = name
                return
        if own:
            self._used.add(own)
            self._why["id"] = (
                f"`{own}` is not unique: rename it in the data, or join it with another"
            )

    def _cluster(self) -> None:
        """Find a column whose values are shared by some cases, but not by most."""
        if "cluster" in self._names:
            self._used.add("cluster")
            return
        by_name = by_folded_name(self._names)
        for like in (*_GROUPS, *CONTEXTS):
            name = by_name.get(like, "")
            values = [str(record.get(name)) for record in self._records] if name else []
            distinct = len(set(values))
            if 2 <= distinct <= len(values) * 0.9 and name != self._fields.get("input"):
                self._fields["cluster"] = name
                self._used.add(name)
                self._why["cluster"] = (
                    f"{len(values):,} cases share {distinct:,} values of `{name}`; verdicts count"
                    " those with the same one together"
                )
                return

    def _metadata(self) -> None:
        """Find columns with few values, by which results can be broken down."""
        if "metadata" in self._names:
            self._used.add("metadata")
            return
        if len(self._records) < 4:
            return
        chosen = 0
        for name in self._names:
            values = [record.get(name) for record in self._records]
            plain = all(isinstance(one, str | int | bool | None) for one in values)
            if name in self._used or not plain or chosen == _MOST_METADATA:
                continue
            distinct = {str(one) for one in values}
            is_short = max(map(len, distinct)) <= _CATEGORY_LENGTH
            if is_short and 2 <= len(distinct) <= min(_MOST_CATEGORIES, len(values) / 2):
                self._fields[f"metadata.{name}"] = name
                self._used.add(name)
                chosen += 1

    # Columns.

    def _column(self, path: str) -> list[Any]:
        """Return the existing values of a column."""
        values = [look_up(record, path) if path else None for record in self._records]
        plain = (str, int, float, bool, list, dict)
        return [one for one in values if isinstance(one, plain) and one != ""]

    def _is_text(self, name: str) -> bool:
        values = self._column(name)
        return bool(values) and all(isinstance(one, str) for one in values)


def _mean_length(values: Sequence[Any]) -> float:
    texts = [one for one in values if isinstance(one, str)]
    return sum(map(len, texts)) / len(texts) if texts else 0.0


def _last_turn(messages: Any) -> Any:
    """Return what the assistant says or calls at the end of a dialogue; None if another role
    ends it.
    """
    if not isinstance(messages, list) or not messages or not isinstance(messages[-1], Mapping):
        return None
    last = messages[-1]
    speaker = str(last.get("role", last.get("from", ""))).lower()
    if speaker not in {"assistant", "gpt", "chatgpt"}:
        return None
    return last.get("tool_calls") or last.get("content", last.get("value")) or None
