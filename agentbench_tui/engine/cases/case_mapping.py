"""Maps a record of a dataset to a case, by the fields, filter and prompt of the suite."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.engine.cases.chat_format import (
    CONVERSATIONS,
    conversation_messages,
    split_dialogue,
)
from agentbench_tui.engine.cases.column_names import LIKELY_NAMES, folded_name
from agentbench_tui.engine.cases.record import RecordFault
from agentbench_tui.model.answer import Case, Message
from agentbench_tui.model.errors import did_you_mean
from agentbench_tui.model.identity import canonical_json
from agentbench_tui.model.text.delimited import NumberText
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.model.suite import Benchmark

CASE_FIELDS = ("id", "input", "expected", "messages", "tools", "cluster", "metadata")
MAX_ID = 200

_REFERENCE = re.compile(r"(\{?)\{([A-Za-z_][\w-]*(?:\.[\w-]+)*|\.)\}(\}?)")
"""`{name}` or `{a.b.0}` in a template; doubled braces are literal braces."""
_ID_KEYS = ("id", "task_id")
_MISSING = object()


class CaseMapping:
    """Maps records of one benchmark's dataset to cases."""

    def __init__(self, benchmark: Benchmark, *, on_command_line: bool = False) -> None:
        assert benchmark.dataset is not None
        self._fields = benchmark.dataset.fields
        self._tools = benchmark.dataset.tools
        self._filter = benchmark.dataset.filter
        self._prompt = benchmark.prompt
        self._expected = benchmark.expected_outputs
        self._inline = benchmark.dataset.cases is not None
        system = benchmark.system_prompt
        self._system = (Message("system", system),) if system is not None else ()
        self._on_command_line = on_command_line
        """Whether `fields` come from an option, which messages then name."""
        self._no_input = ""
        self.has_expected = False
        """Whether any case so far has `expected`."""
        self.names: tuple[str, ...] = ()
        """The fields of the first record that became a case."""
        self.only_sessions = True
        """Whether every record so far was a recorded conversation in ShareGPT's format."""

    def case(self, record: Any, place: int) -> tuple[Case, bool] | None:
        """Return the case of the record at `place` (0-based, in source order); None if it is
        filtered out.

        With it goes whether its id is made of its content, so that equal records share it.
        Raises RecordFault.
        """
        if isinstance(record, Case):
            record = msgspec.to_builtins(record)
        if not isinstance(record, dict):
            raise RecordFault(f"expected a map of fields, found {_kind(record)}")
        if not all(_matches(look_up(record, path), want) for path, want in self._filter.items()):
            return None
        if self._inline:
            self._refuse_unknown(record)
        values = self._values(record)
        if "expected" not in values and self._expected is not None:
            if place >= len(self._expected):
                raise RecordFault(f"`expected_outputs` has only {len(self._expected)} items")
            values["expected"] = self._expected[place]
        values = split_dialogue(values)
        if values.get("input") is None:
            # One advice for all such records, so that they are counted as one fault.
            self._no_input = self._no_input or self.advice("input", tuple(map(str, record)))
            raise RecordFault(f"no `input`; {self._no_input}")
        case, made = _case(values)
        self.has_expected |= case.expected is not None
        self.names = self.names or tuple(map(str, record))
        return self._prompted(case, record), made

    def advice(self, field: str, names: tuple[str, ...]) -> str:
        """Suggest what to write if records with these names lack a field of a case."""
        near = next(
            (name for like in LIKELY_NAMES[field] for name in names if folded_name(name) == like),
            "",
        )
        source = near or "…"
        if self._on_command_line:
            said = f"`--fields {field}={source}`"
        elif self._fields:
            said = f"`{field}: {source}` in `fields`"
        else:
            said = f"`fields: {{{field}: {source}}}`"
        has = one_line(", ".join(names), 120)
        return f"map it with {said} (the record has {has})"

    def _values(self, record: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {key: record[key] for key in CASE_FIELDS if key in record}
        if "id" not in values and "task_id" in record:
            values["id"] = record["task_id"]
        is_session = CONVERSATIONS in record and "messages" not in values
        if is_session:
            values["messages"] = conversation_messages(record[CONVERSATIONS])
        self.only_sessions &= is_session
        for field, source in self._fields.items():
            if field != "cluster":
                _put(values, field, _read(record, field, source))
        if "cluster" in self._fields:
            source = self._fields["cluster"]
            # A field of `metadata` may have another path in the record.
            is_mapped = source.startswith("metadata.") and look_up(record, source) is _MISSING
            known = {**record, "metadata": values.get("metadata")} if is_mapped else record
            values["cluster"] = _read(known, "cluster", source)
        for field, value in values.items():
            if type(value) is not str:
                values[field] = _plain(value, field)
        if self._tools and values.get("tools") is None:
            values["tools"] = self._tools
        return values

    def _prompted(self, case: Case, record: Mapping[str, Any]) -> Case:
        given, messages = case.input, case.messages
        if self._prompt is not None:
            given = fill(self._prompt, {**record, "input": given})
            if case.ends_with_tool_result:
                messages = _with_question(messages, given)
        return msgspec.structs.replace(case, input=given, messages=(*self._system, *messages))

    def _refuse_unknown(self, record: Mapping[str, Any]) -> None:
        """Reject unused fields in a case written into the suite itself."""
        used = {*CASE_FIELDS, *_ID_KEYS, *(path.split(".")[0] for path in self._filter)}
        for source in (*self._fields.values(), self._prompt or ""):
            used.add(source.split(".")[0])
            used.update(match[2].split(".")[0] for match in _REFERENCE.finditer(source))
        for key in record:
            if key not in used and "." not in used:
                near = did_you_mean(key, CASE_FIELDS)
                raise RecordFault(
                    f'unknown key "{key}" in a case{near}; what scorers need goes into `metadata`'
                )


def field_problem(field: str) -> str:
    """Return the problem with a name on the left of `fields`; empty if there is none."""
    root, _, rest = field.partition(".")
    if root not in CASE_FIELDS:
        known = ", ".join(CASE_FIELDS)
        return f'a case has no field "{root}"{did_you_mean(root, CASE_FIELDS)}; it has {known}'
    if rest and root not in {"expected", "metadata", "input"}:
        return f"`{root}` has no parts; parts go into expected, metadata or input"
    return ""


def look_up(record: Any, path: str) -> Any:
    """Return the value at a dotted path, list items by number; `.` is the record; a mark if
    missing.
    """
    if path == ".":
        return record
    for part in path.split("."):
        if isinstance(record, Mapping) and part in record:
            record = record[part]
        elif isinstance(record, list | tuple) and re.fullmatch(r"-?[0-9]{1,9}", part):
            place = int(part)
            if not -len(record) <= place < len(record):
                return _MISSING
            record = record[place]
        else:
            return _MISSING
    return record


def fill(template: str, record: Mapping[str, Any]) -> str:
    """Return `template` with each `{path}` replaced from the record; other braces stay as
    they are.

    `{{name}}` is a literal `{name}`. Raises RecordFault for what the record does not have.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1] and match[3]:
            return match[0][1:-1]
        value = look_up(record, match[2])
        if value is _MISSING:
            raise RecordFault(_lacking(match[2], record))
        return match[1] + _text(value) + match[3]

    return _REFERENCE.sub(replace, template)


def _read(record: Mapping[str, Any], field: str, source: str) -> Any:
    if "{" in source:
        return fill(source, record)
    value = look_up(record, source)
    if value is _MISSING:
        raise RecordFault(f"{_lacking(source, record)} (for `{field}`)")
    return value


def _plain(value: Any, field: str) -> Any:
    """Return a value without NumberText: as a number if it is compared with an answer, as the text
    of the file if it is sent or names a case.
    """
    if isinstance(value, NumberText):
        if field == "expected":
            return value.value
        return str(value) if field == "metadata" else value.written
    if isinstance(value, dict):
        return {key: _plain(inner, field) for key, inner in value.items()}
    return value


def _put(values: dict[str, Any], field: str, value: Any) -> None:
    """Set a value such as `expected.test` inside `values`, creating the map that holds it."""
    root, _, rest = field.partition(".")
    if not rest:
        values[root] = value
        return
    inner = values.get(root)
    values[root] = {**inner, rest: value} if isinstance(inner, dict) else {rest: value}


def _case(values: dict[str, Any]) -> tuple[Case, bool]:
    messages, given, expected = values["messages"], values["input"], values.get("expected")
    tools = _converted(values.get("tools"), tuple[dict[str, Any], ...], "tools") or ()
    written = values.get("id")
    cluster = values.get("cluster")
    case = Case(
        id=_content_id([given, expected, messages, tools]) if written is None else _id(written),
        input=given,
        expected=expected,
        messages=messages,
        tools=tools,
        cluster=None if cluster is None else _text(cluster),
        metadata=_converted(values.get("metadata"), dict[str, Any], "metadata") or {},
    )
    return case, written is None


def _converted(value: Any, kind: Any, field: str) -> Any:
    """Convert the value to that kind; None for a missing value."""
    if not value:
        return None
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message = str(error)
        raise RecordFault(f"`{field}`: {message[:1].lower()}{message[1:]}") from None


def _id(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordFault(f"`id` must be text or a whole number, found {_kind(value)}")
    text = str(value)
    if not text.strip() or len(text) > MAX_ID or not text.isprintable():
        raise RecordFault(
            f"`id` must be 1 to {MAX_ID} printable characters, found {one_line(repr(text), 60)}"
        )
    return text


def _content_id(content: Any) -> str:
    try:
        return hashlib.sha256(canonical_json(content)).hexdigest()[:12]
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise RecordFault(f"holds what JSON cannot: {error}") from None


def _matches(value: Any, wanted: Any) -> bool:
    if value is _MISSING:
        return False
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)


def _text(value: Any) -> str:
    if isinstance(value, NumberText):
        return value.written
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()


def _lacking(path: str, record: Mapping[str, Any]) -> str:
    names = [str(key) for key in record]
    has = one_line(", ".join(names), 120)
    return f'no "{path}" in the record{did_you_mean(path, names)}; it has {has}'


def _kind(value: Any) -> str:
    names = {list: "a list", str: "text", int: "a number", float: "a number", bool: "a truth value"}
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")


def _with_question(messages: tuple[Message, ...], question: str) -> tuple[Message, ...]:
    """Return the turns with another text in the last one of the user."""
    last = max(place for place, turn in enumerate(messages) if turn.role == "user")
    turn = msgspec.structs.replace(messages[last], content=question)
    return (*messages[:last], turn, *messages[last + 1 :])
