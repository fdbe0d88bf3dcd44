"""The workload of a load plan: every session that may be sent, generated before the window.

Runs in the coordinator. Workers get the whole of it and only have to pick
(`load.workload.conversation`), so it is bounded. Everything drawn is drawn from the seed: same
seed, same workload.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from agentbench_tui.load.sending.protocol import Conversation, RequestType, Turn
from agentbench_tui.load.workload.corpus import PROMPTS
from agentbench_tui.load.workload.recorded import RecordedSessions, recorded_lengths
from agentbench_tui.load.workload.synthetic import (
    BYTES_PER_TOKEN,
    draw_lengths,
    length_problem,
    make_prompts,
)
from agentbench_tui.load.workload.trace import read_trace
from agentbench_tui.model.answer import Case, Message, Request
from agentbench_tui.model.errors import (
    MissingExtra,
    Problem,
    SuiteError,
    UsageError,
    did_you_mean,
)
from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from agentbench_tui.load.spec import LoadSpec, RequestSpec, SyntheticSpec
    from agentbench_tui.load.workload.trace import RecordedTrace

MOST_BYTES = 64_000_000
"""Maximum size of all sessions together, as workers receive them."""
MOST_TYPES = 255
"""Maximum number that a stored sample can distinguish."""
_EXAMPLES = 32
"""Number of a trace's requests that represent all of them for estimating sizes."""
MOST_TURNS = 1000
"""Maximum turns of one recorded conversation; later ones are not sent."""
LEAST_DRAWN = 64
"""Sessions of a type whose answers have drawn lengths, so that few prompts show many lengths."""

_Item = TypeVar("_Item")


def make_workload(
    spec: LoadSpec, *, base_dir: str, seed: int, say: Callable[[str], None] = lambda _: None
) -> tuple[RequestType, ...]:
    """Return every request type with its sessions; paths are relative to `base_dir`.

    `say` gets a sentence on the records of a dataset that were skipped. Raises UsageError for more
    than `MOST_BYTES`, SuiteError where no record is a case (paths without a file are relative to
    the benchmark), MissingExtra.
    """
    if (trace := replayed_trace(spec, base_dir)) is not None:
        return (_recorded_type(spec.workload[0], trace, seed),)
    budget = _Budget()
    workload = []
    for place, request in enumerate(spec.workload):
        own_seed = derive_seed(seed, "workload", place)
        try:
            source = _cases(request, base_dir, own_seed)
            cases = list(_Budget().bounded(source.cases, request.name))
        except SuiteError as error:
            root = f"load.workload.{place}"
            raise SuiteError([_under(root, problem) for problem in error.problems]) from None
        if skipped := source.skipped:
            say(f"{request.data_source}: {skipped}")
        sessions = budget.bounded(
            _recorded_sessions(request, cases, own_seed)
            if source.are_sessions
            else _sessions(request, cases, own_seed),
            request.name,
        )
        workload.append(
            RequestType(request.name, request.weight, tuple(sessions), request.cancel_after_tokens)
        )
    return tuple(workload)


def replayed_trace(spec: LoadSpec, base_dir: str) -> RecordedTrace | None:
    """Return the trace whose lengths are replayed; None without a trace, or if the workload
    specifies what to send. Raises UsageError if it cannot be read.
    """
    request = spec.workload[0]
    own = (request.prompts, request.data_source, request.synthetic, request.tools or None)
    if spec.trace is None or len(spec.workload) > 1 or request.turns > 1 or any(own):
        return None
    trace = read_trace(Path(base_dir) / spec.trace.file, unit=spec.trace.unit)
    return trace if trace.has_lengths else None


def _recorded_type(request: RequestSpec, trace: RecordedTrace, seed: int) -> RequestType:
    asked, count = request.output_tokens, len(trace.offsets_s)
    own = None if asked is None else draw_lengths(asked, count, _random("output lengths", seed))
    lengths = recorded_lengths(trace, seed, request.system_prompt, own)
    sessions = RecordedSessions(lengths)
    return RequestType(
        request.name,
        request.weight,
        tuple(sessions[place] for place in range(0, count, -(-count // _EXAMPLES))),
        request.cancel_after_tokens,
        lengths,
    )


def problems(spec: LoadSpec, base_dir: str) -> list[str]:
    """Return one line, `PATH: what`, for each problem in `workload`.

    Only the first case of each dataset is read; `make_workload` finds problems in later ones.
    """
    lines = []
    if len(spec.workload) > MOST_TYPES:
        lines.append(f"workload: {len(spec.workload)} request types; at most {MOST_TYPES}")
    for name, count in Counter(request.name for request in spec.workload).items():
        if count > 1:
            lines.append(f'workload: {count} request types are named "{name}"; names must differ')
    for place, request in enumerate(spec.workload):
        found = (
            *_source_problems(request, base_dir),
            *_length_problems(request),
            *_tool_problems(request),
        )
        lines += [f"workload.{place}.{line}" for line in found]
    return lines


class _Budget:
    """Counts encoded bytes, and stops at too many."""

    def __init__(self) -> None:
        self._left = MOST_BYTES
        self._encode = msgspec.msgpack.Encoder().encode

    def bounded(self, items: Iterable[_Item], name: str) -> Iterator[_Item]:
        """Yield the items until they exceed the budget. Raises UsageError."""
        for item in items:
            self._left -= len(self._encode(item))
            if self._left < 0:
                raise _too_large(name)
            yield item


def _too_large(name: str) -> UsageError:
    return UsageError(
        f'workload "{name}": more than {MOST_BYTES // 1_000_000} MB of requests, which every load'
        " worker would hold; give fewer or shorter ones (`limit`, `distinct`, `input_tokens`)"
    )


@dataclass(slots=True)
class _Source:
    """The cases of a request type, and their facts once they are read."""

    cases: Iterator[Case]
    skipped: str = ""
    """Number of skipped records of a dataset, and why."""
    are_sessions: bool = False
    """Whether each case is a recorded conversation, to be replayed turn by turn."""


def _cases(request: RequestSpec, base_dir: str, seed: int) -> _Source:
    """Return the questions as independent cases."""
    if request.data_source is None:
        return _Source(_own_cases(request, seed))
    source = _Source(iter(()))
    source.cases = _read_cases(request, base_dir, seed, source)
    return source


def _own_cases(request: RequestSpec, seed: int) -> Iterator[Case]:
    if request.synthetic is not None:
        prompts: Iterable[str] = _made_up(request, request.synthetic, seed)
    else:
        prompts = request.prompts or PROMPTS
    system = request.system_prompt
    before = () if system is None else (Message("system", system),)
    for number, prompt in enumerate(prompts):
        yield Case(f"{request.name}-{number}", prompt, messages=before)


def _read_cases(
    request: RequestSpec, base_dir: str, seed: int, known: _Source, limit: int | None = None
) -> Iterator[Case]:
    """Yield the usable records of a dataset. Raises SuiteError with paths inside the
    request type.
    """
    from agentbench_tui.engine.cases.dataset import open_dataset
    from agentbench_tui.model.suite import Benchmark, Dataset

    benchmark = Benchmark(
        benchmark_id="load",
        dataset=Dataset(
            data_source=request.data_source, fields=request.fields, limit=request.limit
        ),
        system_prompt=request.system_prompt,
    )
    try:
        with open_dataset(
            benchmark, base_dir=base_dir, seed=seed, limit=limit, skip_unusable=True
        ) as source:
            known.skipped = source.skipped
            known.are_sessions = source.are_sessions and request.turns == 1
            yield from source
    except SuiteError as error:
        own = [
            replace(problem, path=problem.path.partition(".")[2] or "data_source")
            if problem.path
            else problem
            for problem in error.problems
        ]
        raise SuiteError(own) from None


def _under(root: str, problem: Problem) -> Problem:
    return replace(problem, path=f"{root}.{problem.path}") if problem.path else problem


def _made_up(request: RequestSpec, spec: SyntheticSpec, seed: int) -> Iterator[str]:
    whole_sessions = -(-spec.distinct // request.turns)
    lengths = draw_lengths(
        spec.input_tokens, whole_sessions * request.turns, _random("input lengths", seed)
    )
    if sum(lengths) * BYTES_PER_TOKEN > MOST_BYTES:
        raise _too_large(request.name)
    return make_prompts(spec, lengths, _random("prompts", seed), turns=request.turns)


def _random(what: str, seed: int) -> Random:
    """Return a separate random stream for each drawn quantity."""
    return Random(f"{what} {seed}")  # noqa: S311  # no secret


def _sessions(request: RequestSpec, cases: Sequence[Case], seed: int) -> Iterator[Conversation]:
    """Return sessions of `turns` successive cases; the last one continues with the first cases."""
    count = -(-len(cases) // request.turns)
    asked = request.output_tokens
    if asked is not None and not isinstance(asked, int) and asked.spread:
        count *= -(-LEAST_DRAWN // count)
    limits: Sequence[int | None] = [None] * count * request.turns
    if asked is not None:
        limits = draw_lengths(asked, len(limits), _random("output lengths", seed))
    results = _tool_results(request.tool_results)
    as_cases = request.data_source is not None and request.turns == 1
    for first in range(0, count * request.turns, request.turns):
        places = range(first, first + request.turns)
        chosen = [cases[place % len(cases)] for place in places]
        tools = _tools(request, chosen)
        yield Conversation(
            tuple(
                _turn(case, limits[place], is_first=place == first, as_case=as_cases)
                for place, case in zip(places, chosen, strict=True)
            ),
            request.think_time_ms,
            tools,
            results if tools else {},
            request.tool_rounds if tools else 0,
        )


def _recorded_sessions(
    request: RequestSpec, cases: Sequence[Case], seed: int
) -> Iterator[Conversation]:
    """Yield a session for each recorded conversation: the user's turns, each sent with the previous
    answers of the agent under test.
    """
    dialogues = [_user_turns(case) for case in cases]
    limits: Sequence[int | None] = [None] * sum(map(len, dialogues))
    if request.output_tokens is not None:
        random = _random("output lengths", seed)
        limits = draw_lengths(request.output_tokens, len(limits), random)
    left = iter(limits)
    for turns in dialogues:
        yield Conversation(
            tuple(Turn(messages, next(left)) for messages in turns[:MOST_TURNS]),
            request.think_time_ms,
            _tools(request, ()),
            _tool_results(request.tool_results) if request.tools else {},
            request.tool_rounds if request.tools else 0,
        )


def _user_turns(case: Case) -> list[tuple[Message, ...]]:
    """Return the messages of each turn: the user's, the first one with what preceded it."""
    said = [*case.messages, Message("user", Request(case, seed=0).text())]
    first = next(place for place, message in enumerate(said) if message.role == "user")
    later = [(message,) for message in said[first + 1 :] if message.role == "user"]
    return [tuple(said[: first + 1]), *later]


def _turn(case: Case, output_tokens: int | None, *, is_first: bool, as_case: bool) -> Turn:
    """Return a turn; a later one has no system prompt, since the session already has one."""
    before = case.messages
    if not is_first:
        before = tuple(message for message in before if message.role != "system")
    question = Request(case, seed=0).text()
    return Turn(
        (*before, Message("user", question)),
        output_tokens,
        msgspec.to_builtins(case) if as_case else None,
    )


def _tools(request: RequestSpec, cases: Sequence[Case]) -> tuple[dict[str, Any], ...]:
    """Return definitions by name, those of the request before those of its cases."""
    found: dict[str, dict[str, Any]] = {}
    for tool in (*request.tools, *(tool for case in cases for tool in case.tools)):
        definition = _definition(tool)
        found.setdefault(str(definition.get("name")), definition)
    return tuple(found.values())


def _definition(tool: dict[str, Any]) -> dict[str, Any]:
    """Return `{name, description, parameters}`, also if it is wrapped as in chat completions."""
    inner = tool.get("function")
    return inner if isinstance(inner, dict) else tool


def _tool_results(results: dict[str, str]) -> dict[str, str]:
    """Return results by the suite's tool names and by those sent to model APIs."""
    if not results:
        return {}
    from agentbench_tui.agents.model_apis.model_api import wire_tool_name

    return {wire_tool_name(name): result for name, result in results.items()} | results


def _source_problems(request: RequestSpec, base_dir: str) -> Iterator[str]:
    for number, prompt in enumerate(request.prompts or ()):
        if not prompt.strip():
            yield f"prompts.{number}: is empty"
    if request.data_source is None:
        for field in ("fields", "limit"):
            if field in request.model_fields_set:
                yield f"{field}: goes with `data_source`, which is not given"
        return
    try:
        next(_read_cases(request, base_dir, 0, _Source(iter(())), limit=1))
    except SuiteError as error:
        for problem in error.problems:
            yield str(problem) if problem.path else f"data_source: {problem}"
    except MissingExtra as error:
        yield f"data_source: {error}"


def _length_problems(request: RequestSpec) -> Iterator[str]:
    synthetic = request.synthetic
    if synthetic is not None:
        if fault := length_problem(synthetic.input_tokens):
            yield f"synthetic.input_tokens: {fault}"
        given = synthetic.input_tokens
        mean = given if isinstance(given, int) else given.mean
        if mean * synthetic.distinct * BYTES_PER_TOKEN > MOST_BYTES:
            most = int(MOST_BYTES / BYTES_PER_TOKEN)
            yield (
                f"synthetic: {synthetic.distinct:,} prompts of {mean:,} tokens; all together may"
                f" have {most:,}, so lower `distinct` or `input_tokens`"
            )
    if request.output_tokens is not None and (fault := length_problem(request.output_tokens)):
        yield f"output_tokens: {fault}"


def _tool_problems(request: RequestSpec) -> Iterator[str]:
    names = []
    for number, tool in enumerate(request.tools):
        name = _definition(tool).get("name")
        if isinstance(name, str) and name:
            names.append(name)
        else:
            yield f"tools.{number}: has no `name`; a tool is {{name, description, parameters}}"
    if request.data_source is not None:
        return  # its cases may bring tools of their own
    for name in request.tool_results:
        if name not in names:
            yield f'tool_results.{name}: there is no tool "{name}"{did_you_mean(name, names)}'
