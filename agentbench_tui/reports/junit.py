"""A run as JUnit XML, which CI systems show as tests.

Each gate on each execution is a test that fails with the gate. Each answer is a test too. A wrong
answer is a result, so its test passes, unless a gate on correctness failed for its execution: then
the wrong answers are what to look at, and fail. What never came to an answer because of the server,
the network or the harness is an error, whatever the gates say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from agentbench_tui.model.answer import INFRASTRUCTURE, FailureKind
from agentbench_tui.model.gate import parse_gate
from agentbench_tui.model.text.untrusted import one_line, visible
from agentbench_tui.presentation.numbers import from_one
from agentbench_tui.presentation.run_verdict import gate_words, load_words
from agentbench_tui.store.queries.answer_pages import reported_answers
from agentbench_tui.store.queries.answers import outcome_counts
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agentbench_tui.contracts.run import ExecutionResult, GateOutcome
    from agentbench_tui.reports.sources import RunSource
    from agentbench_tui.store.queries.answer_pages import ReportedAnswer

_ERRORS = INFRASTRUCTURE | {FailureKind.TIMEOUT, FailureKind.GRADER}
"""Failures that do not show what the agent can do. A timeout is one of them although the agent
caused it, because CI systems report timeouts as errors.
"""
_CORRECTNESS = ("accuracy", "correct", "completeness", "relevance", "overall")
"""Beginnings of names of metrics and scores that wrong answers decide."""
_LONGEST = 1000
"""Characters of a text."""
_NAME = 200


def write_junit(connection: sqlite3.Connection, source: RunSource, path: Path) -> None:
    """Write the file, one test at a time. Raises OSError."""
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(junit_lines(connection, source))


def junit_lines(connection: sqlite3.Connection, source: RunSource) -> Iterator[str]:
    """Yield the lines of the file."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute('agentbench ' + source.run.run_id)}>\n"
    if source.gates:
        yield from _gates(source)
    for execution in source.run.executions:
        asked = _asks_for_right_answers(execution, source.gates)
        yield from _execution(connection, source.keys[execution.execution_id], execution, asked)
    yield "</testsuites>\n"


def _gates(source: RunSource) -> Iterator[str]:
    failed = sum(one.holds is False for one in source.gates)
    unknown = sum(one.holds is None for one in source.gates)
    yield (
        f'<testsuite name="gates" tests="{len(source.gates)}" failures="{failed}"'
        f' errors="{unknown}">\n'
    )
    for one in source.gates:
        point = f" ({one.point})" if one.point else ""
        name = f"{one.gate} {one.agent_id} on {one.benchmark_id}{point}"
        start = f'<testcase classname="gates" name={_attribute(name)}'
        if one.holds:
            yield f"{start}/>\n"
            continue
        tag = "error" if one.holds is None else "failure"
        message = _attribute(gate_words(one))
        yield f'{start}><{tag} type="gate" message={message}/></testcase>\n'
    yield "</testsuite>\n"


def _asks_for_right_answers(execution: ExecutionResult, gates: Sequence[GateOutcome]) -> bool:
    """Return whether a gate on correctness failed for the execution."""
    place = execution.agent_id, execution.benchmark_id, point_words(execution.parameters)
    return any(
        one.holds is False
        and (one.agent_id, one.benchmark_id, one.point or "") == place
        and parse_gate(one.gate).name.startswith(_CORRECTNESS)
        for one in gates
    )


def _execution(
    connection: sqlite3.Connection, key: int, execution: ExecutionResult, asked: bool
) -> Iterator[str]:
    """Yield a suite of one test for each answer; `asked`: whether wrong ones fail.

    A load or a stress scenario stores no single answers, and is one test.
    """
    place = [execution.suite_id, execution.benchmark_id, execution.agent_id]
    point = point_words(execution.parameters)
    name = f"{' / '.join(place)}{f' ({point})' if point else ''}"
    classname = _attribute(".".join(place))
    outcomes = outcome_counts(connection, key)
    tests = sum(one.answers for one in outcomes)
    if not tests:
        yield from _whole(execution, name, classname)
        return
    errors = sum(one.answers for one in outcomes if one.failure_kind in _ERRORS)
    failures = sum(
        one.answers
        for one in outcomes
        if asked
        and one.failure_kind not in _ERRORS
        and _falls_short(one.failure_kind, is_wrong=one.is_wrong)
    )
    yield (
        f'<testsuite name={_attribute(name)} tests="{tests}" failures="{failures}"'
        f' errors="{errors}">\n'
    )
    for answer in reported_answers(connection, key, _LONGEST):
        yield _answer(classname, answer, asked)
    yield "</testsuite>\n"


def _whole(execution: ExecutionResult, name: str, classname: str) -> Iterator[str]:
    """Yield a suite of one test: an error if the execution did not come to its end."""
    is_whole = execution.status == "complete"
    yield (
        f'<testsuite name={_attribute(name)} tests="1" failures="0"'
        f' errors="{0 if is_whole else 1}">\n'
    )
    start = f"<testcase classname={classname} name={_attribute(execution.benchmark_id)}"
    if not is_whole:
        why = _attribute(execution.stop_reason or execution.status)
        yield f"{start}><error type={_attribute(execution.status)} message={why}/></testcase>\n"
    elif execution.load_result is not None and execution.scenario is None:
        yield f"{start}><system-out>{_text(load_words(execution))}</system-out></testcase>\n"
    else:
        yield f"{start}/>\n"
    yield "</testsuite>\n"


def _answer(classname: str, one: ReportedAnswer, asked: bool) -> str:
    times = ""
    if one.repeat or one.iteration:
        times = f" repeat {from_one(one.repeat)} iteration {from_one(one.iteration)}"
    seconds = "" if one.e2e_ms is None else f' time="{one.e2e_ms / 1e3:.6f}"'
    start = f"<testcase classname={classname} name={_attribute(one.case_id + times)}{seconds}"
    if one.failure_kind in _ERRORS:
        kind = _attribute(one.failure_kind or "")
        return f"{start}><error type={kind} message={_attribute(one.detail or '')}/></testcase>\n"
    if not _falls_short(one.failure_kind, is_wrong=one.correct == 0):
        return f"{start}/>\n"
    what = "wrong answer" if one.failure_kind is None else one.failure_kind
    told = _text(
        f"expected: {one.expected}\nanswered: {one.said}"
        if one.failure_kind is None
        else f"{one.failure_kind}: {one.detail or ''}"
    )
    if asked:
        return f"{start}><failure type={_attribute(what)}>{told}</failure></testcase>\n"
    return f"{start}><system-out>{told}</system-out></testcase>\n"


def _falls_short(failure_kind: str | None, *, is_wrong: bool) -> bool:
    """Return whether an answer failed or is wrong; an answer that was not judged is neither."""
    return failure_kind is not None or is_wrong


def _attribute(text: str) -> str:
    return quoteattr(_xml(one_line(text, _NAME)))


def _text(text: str) -> str:
    return _xml(visible(text, 2 * _LONGEST)).replace("&", "&amp;").replace("<", "&lt;").replace(
        ">", "&gt;"
    )  # fmt: skip


def _xml(text: str) -> str:
    """Write out what XML 1.0 cannot hold and `visible` leaves: two characters of every plane."""
    if text.isascii():
        return text
    return "".join(f"\\u{ord(one):04x}" if ord(one) & 0xFFFE == 0xFFFE else one for one in text)
