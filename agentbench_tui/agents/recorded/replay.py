"""`replay:FILE?answer=FIELD.PATH`: previously recorded answers, from JSON lines or JSON.

A case finds its record by its text: the record one of whose fields is the case's input, or stands
within it where the suite wraps the question in a prompt. Failing that, by id. So a recording that
goes with a dataset works however the cases are shuffled, limited or prompted. Answers come at
once; their times say nothing of the agent and are left out (`AgentSpec.recorded`).
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import msgspec

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.agents.model_apis.token_counts import TokenCounts, without_output
from agentbench_tui.agents.recorded.recording import (
    Recording,
    RecordingFault,
    first_record,
    look_up,
)
from agentbench_tui.agents.reply import FIELDS, answer_of_fields
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Agent, AgentFailure, Answer, FailureKind, Request
from agentbench_tui.model.errors import did_you_mean

_ID_FIELDS = ("id", "task_id")
_MOST_SEARCHES = 3
"""How often the whole file is searched for a question within a prompt."""


class Options(AgentOptions):
    """Options of a recording. All but `match` are dotted paths in a record."""

    answer: str
    """The recorded answer: text, or any JSON value, or an object with the fields of an Answer."""
    match: Literal["auto", "question", "id"] = "auto"
    """Field to match; `auto` tries the question, then the id."""
    question: str | None = None
    """Top-level field that holds the question; one of the first four text fields if left out."""
    id: str | None = None
    """Top-level field that holds the case's id; `id` or `task_id` if left out."""
    input_tokens: str | None = None
    output_tokens: str | None = None
    cost_usd: str | None = None
    ttft_ms: str | None = None
    latency_ms: str | None = None
    """Kept in the answer's metadata; not waited for."""
    model: str | None = None


def check(spec: AgentSpec, options: Options) -> list[str]:
    """Read the first record and return named fields that it lacks."""
    source = parse_target(spec.target).rest
    try:
        record = first_record(source, spec.base_dir)
    except RecordingFault as fault:
        return [f"`{source}`: {fault}"]
    problems = []
    for name in ("answer", "question", "id"):
        path = getattr(options, name)
        if path is not None and not _has(record, path):
            hint = did_you_mean(path, _paths(record)) or f"; it has {', '.join(record)[:200]}"
            problems.append(f"option `{name}`: no `{path}` in the first record{hint}")
    return problems


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Agent:  # noqa: A001, ARG001
    """Return a session that reads the file when it starts."""
    return ReplayAgent(parse_target(spec.target).rest, spec.base_dir, options)


class ReplayAgent:
    """Returns recorded answers."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, source: str, base_dir: str, options: Options) -> None:
        self._source = source
        self._base_dir = base_dir
        self._options = options
        self._id_fields = _ID_FIELDS if options.id is None else (options.id,)
        self._question_fields = () if options.question is None else (options.question,)
        self._recording: Recording | None = None
        self._around = ("", "")
        self._searches = 0
        self._searching = asyncio.Lock()

    async def start(self) -> None:
        """Read the file once. Raises AgentFailure."""
        options = self._options
        named: tuple[str, ...] = ()
        if options.match == "id":
            named = self._id_fields
        elif self._question_fields:
            named = (*self._question_fields, *self._id_fields)
        try:
            self._recording = await asyncio.to_thread(
                Recording,
                self._source,
                self._base_dir,
                named,
                unmatched=options.answer.partition(".")[0],
            )
        except RecordingFault as fault:
            raise AgentFailure(FailureKind.AGENT, f"`{self._source}`: {fault}") from None

    async def answer(self, request: Request) -> Answer:
        """Return the recorded answer of the case. Raises AgentFailure if there is none."""
        recording = self._recording
        assert recording is not None
        number = await self._find(recording, request)
        if number is None:
            raise AgentFailure(
                FailureKind.AGENT, f"no record of `{self._source}` belongs to this case"
            )
        try:
            value = look_up(recording[number], self._options.answer)
        except (LookupError, TypeError):
            value = None
        if value is None:
            raise AgentFailure(
                FailureKind.AGENT, f"record {number + 1} has no `{self._options.answer}`"
            )
        return self._with_figures(_answer_of(value), recording[number])

    async def close(self) -> None:
        """Close the file."""
        if self._recording is not None:
            self._recording.close()
            self._recording = None

    async def _find(self, recording: Recording, request: Request) -> int | None:
        match = self._options.match
        number = None
        if match != "id":
            number = self._find_question(recording, request.text())
        if number is None and match != "question":
            number = recording.find(request.case.id, self._id_fields)
        if number is None and match != "id":
            number = await self._find_prompted(recording, request.text())
        return number

    def _find_question(self, recording: Recording, text: str) -> int | None:
        before, after = self._around
        if (before or after) and text.startswith(before) and text.endswith(after):
            number = recording.find(
                text[len(before) : len(text) - len(after)], self._question_fields
            )
            if number is not None:
                return number
        return recording.find(text, self._question_fields)

    async def _find_prompted(self, recording: Recording, text: str) -> int | None:
        """Find the record of a prompted text; learn once which text the prompt adds around the
        question.
        """
        async with self._searching:
            number = self._find_question(recording, text)  # learned while this one waited
            if number is not None or self._searches >= _MOST_SEARCHES:
                return number
            self._searches += 1
            found = await asyncio.to_thread(recording.find_inside, text)
            if found is None:
                return None
            self._around = found
            return self._find_question(recording, text)

    def _with_figures(self, answer: Answer, record: dict[str, Any]) -> Answer:
        options = self._options
        figures: dict[str, Any] = {}
        tokens_in = _number(record, options.input_tokens)
        tokens_out = _number(record, options.output_tokens)
        counts = (None if count is None else int(count) for count in (tokens_in, tokens_out))
        usage = TokenCounts(*counts).usage()
        if usage is not None and usage.output_tokens == 0 and answer.text:
            usage = without_output(usage)
        if usage is not None:
            figures["usage"] = usage
        for name in ("cost_usd", "ttft_ms"):
            value = _number(record, getattr(options, name))
            if value is not None:
                figures[name] = value
        latency_ms = _number(record, options.latency_ms)
        if latency_ms is not None:
            figures["metadata"] = {**answer.metadata, "latency_ms": latency_ms}
        if options.model is not None and _has(record, options.model):
            figures["model"] = str(look_up(record, options.model))
        return msgspec.structs.replace(answer, **figures) if figures else answer


def _answer_of(value: Any) -> Answer:
    if isinstance(value, str):
        return Answer(text=value)
    if isinstance(value, dict) and value and FIELDS.issuperset(value):
        return answer_of_fields(value)
    return Answer(text=msgspec.json.encode(value).decode(), data=value)


def _number(record: dict[str, Any], path: str | None) -> float | None:
    if path is None or not _has(record, path):
        return None
    value = look_up(record, path)
    known = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) if known else None


def _has(record: dict[str, Any], path: str) -> bool:
    try:
        look_up(record, path)
    except (LookupError, TypeError):
        return False
    return True


def _paths(record: dict[str, Any]) -> list[str]:
    """Return the dotted paths of the first two levels, for suggestions."""
    paths = list(record)
    for name, value in record.items():
        if isinstance(value, dict):
            paths += [f"{name}.{inner}" for inner in value]
    return paths
