"""Writes a proposal as the text of a suite, and shows its effect on the first cases."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.answer import Request
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.engine.suite.proposal import Proposal

SHOWN = 3
_WIDTH = 300
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")
_WORDS = frozenset({"true", "false", "null", "y", "n", "yes", "no", "on", "off", "nan"})
_COLUMN = 96

_SCORED = """
# What counts how much in the overall score; it stays empty while one of these has no score.
weights: {accuracy: 1, speed: 0, efficiency: 0, cost: 0, reliability: 0}
# gates: ["accuracy>=0.8"]   # the exit code is 1 when a gate fails
"""
_UNSCORED = """
# Nothing is judged right or wrong, so only these count in the overall score.
weights: {accuracy: 0, speed: 0.7, efficiency: 0, cost: 0, reliability: 0.3}
"""
_SPEED = """\
    scoring_rubric:          # 1 at the target or better, 0 at the limit or worse
      speed: {metric: e2e_ms.p50, target: 500, limit: 20000, scale: log}
"""
_DIMENSIONS = ("input", "expected", "id", "cluster")


def proposed_body(data_source: str, proposal: Proposal) -> str:
    """Return the benchmarks and weights of a suite for a data file, as YAML with comments."""
    lines = [
        "benchmarks:",
        "  - benchmark_id: questions",
        "    dataset:",
        f"      data_source: {_scalar(data_source)}   # relative to this file",
        *_fields(proposal),
        "      shuffle: true          # by the seed, before `limit`",
        "      # limit: 200",
    ]
    if proposal.prompt is not None:
        lines.append("    prompt: |-               # {input} and any column, such as {name}")
        lines += [f"      {line}".rstrip() for line in proposal.prompt.splitlines()]
    if proposal.scorer is None:
        lines.append("    # scorers: [normalized]  # needs an expected answer: map it in `fields`")
    else:
        lines += _comment(f"{proposal.why['scorer']} (all scorers: docs/scorers.md).", 4)
        lines.append(f"    scorers: [{_flow(proposal.scorer)}]")
    lines += [
        "    constraints:",
        "      time_limit_ms: 60000   # an answer after this is a failure of kind timeout",
        "    iterations: {warmup: 0, measured: 1}",
        "    concurrency: 4",
    ]
    text = "\n".join(lines) + "\n"
    return text + (_SPEED + _UNSCORED if proposal.scorer is None else _SCORED)


def _fields(proposal: Proposal) -> list[str]:
    lines = []
    for field in _DIMENSIONS:
        if why := proposal.why.get(field):
            lines += _comment(f"{field}: {why}", 6)
    if proposal.fields:
        lines.append(
            "      fields:                # field of a case: path in the record, or template"
        )
        lines += [
            f"        {_scalar(field)}: {_scalar(path)}" for field, path in proposal.fields.items()
        ]
    if any(field.startswith("metadata.") for field in proposal.fields):
        lines += _comment("Results can be broken down by fields of metadata.", 6)
    if proposal.unused:
        lines += _comment(f"Not used: {one_line(', '.join(proposal.unused), 300)}.", 6)
    return lines


def _comment(text: str, indent: int) -> list[str]:
    # What comes from the data must not end the comment.
    plain = one_line(text, 600)
    start = " " * indent + "# "
    return textwrap.wrap(
        plain[:1].upper() + plain[1:], _COLUMN, initial_indent=start, subsequent_indent=start
    )


def _scalar(text: str) -> str:
    """Return a text as YAML, in double quotes if it could be read as another type."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    # JSON in ASCII is YAML, whatever characters a column has in its name.
    return json.dumps(text)


def _flow(spec: Any) -> str:
    if not isinstance(spec, dict):
        return str(spec)
    inner = ", ".join(f"{key}: {_flow(value)}" for key, value in spec.items())
    return f"{{{inner}}}"


def proposal_lines(name: str, proposal: Proposal) -> Iterator[str]:
    """Describe the choices, and their reasons."""
    which = "the first " if proposal.has_more else ""
    yield f"{name}: looked at {which}{counted(proposal.records, 'record')}"
    for field in _DIMENSIONS:
        if why := proposal.why.get(field):
            yield f"  {field:<9} {why}"
    metadata = [field for field in proposal.fields if field.startswith("metadata.")]
    if groups := [field for field in metadata if field != "metadata.choices"]:
        yield f"  {'groups':<9} {one_line(', '.join(groups), _WIDTH)}"
    if proposal.scorer is not None:
        scorer = one_line(_flow(proposal.scorer), _WIDTH)
        yield f"  {'scorer':<9} {scorer}: {proposal.why['scorer']}"
    if proposal.unused:
        yield f"  {'not used':<9} {one_line(', '.join(proposal.unused), _WIDTH)}"


def first_cases(loaded: LoadedSuite) -> Iterator[str]:
    """Yield the first cases of a suite's first benchmark, as an agent receives them and as they are
    scored.

    Raises SuiteError with what is wrong with the data.
    """
    from agentbench_tui.engine.cases.dataset import open_dataset

    benchmark = loaded.suite.benchmarks[0]
    with open_dataset(benchmark, base_dir=loaded.folder, seed=loaded.suite.seed) as source:
        yield f"{counted(len(source), 'case')} to ask; the first, as an agent gets them:"
        for case, _ in zip(source.cases(), range(SHOWN), strict=False):
            yield ""
            yield f"  case {case.id}" + (f" of cluster {case.cluster}" if case.cluster else "")
            for message in Request(case, seed=0).conversation():
                calls = [f"{call.name}({_shown(call.arguments)})" for call in message.tool_calls]
                yield from _turn(message.role, message.content or ", ".join(calls))
            yield f"    expected: {_shown(case.expected)}"
    yield ""


def _turn(role: str, content: Any) -> Iterator[str]:
    first, *rest = _shown(content, keeps_lines=True).splitlines() or [""]
    yield f"    {role}: {first}"
    for line in rest:
        yield f"    {'':{len(role)}}  {line}".rstrip()


def _shown(value: Any, *, keeps_lines: bool = False) -> str:
    """Return a value, shortened, with its line breaks if they fit."""
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if keeps_lines and len(text) <= _WIDTH:
        return text
    return one_line(text, _WIDTH)
