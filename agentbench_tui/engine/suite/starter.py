"""The suite that `agentbench suites new` writes: small, complete, commented and runnable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.engine.suite.proposed_suite import proposed_body
from agentbench_tui.model.errors import UsageError, did_you_mean, write_error
from agentbench_tui.model.identity import is_name

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.proposal import Proposal

TEMPLATES = {
    "cases": "cases written into the suite, compared with the expected answers",
    "file": "cases in a JSON Lines file, fields mapped, a parameter for the file",
    "speed": "answer time and cost, early stop and a gate",
}
"""Name → what the template shows."""

_HEAD = """\
# A suite: what to ask, how to judge the answers, within which limits.
# Check it:  agentbench suites validate {file}
# Run it:    agentbench run {file} --agent openai:http://127.0.0.1:8000/v1#MODEL
# Every key: docs/suites.md, or `agentbench suites schema` for your editor.
suite_id: {name}
name: {name}
version: "1"
category: accuracy       # speed, accuracy, cost, reliability, scalability, comprehensive

"""

_AGENTS = """
# Agents to run when the command line names none. Keys come from the environment only.
# agents:
#   - id: mine
#     target: python:my_agent:answer
"""

_WEIGHTS = """
# What counts how much in the overall score; it stays empty while one of these has no score.
weights: {accuracy: 0.8, speed: 0, efficiency: 0, cost: 0, reliability: 0.2}
"""

_CASES = """\
benchmarks:
  - benchmark_id: capitals
    description: One-word answers to geography questions.
    test_type: synthetic
    dataset:
      cases:
        - input: What is the capital of Japan? Answer with one word.
          expected: Tokyo
        - input: What is the capital of Peru? Answer with one word.
          expected: Lima
    # The first scorer decides right or wrong; docs/suites.md lists them all.
    scorers: [normalized]
    constraints:
      time_limit_ms: 30000   # an answer after this is a failure of kind timeout
    iterations:
      warmup: 1              # asked, not measured
      measured: 3            # passes over all cases
"""

_FILE = """\
# Used as ${{questions}} below; set with --set questions=PATH.
parameters:
  questions:
    type: path
    default: {name}.jsonl    # relative to this file
    description: JSON Lines with the fields `question` and `answer`.

benchmarks:
  - benchmark_id: questions
    dataset:
      data_source: ${{questions}}
      fields:                # field of a case: path in the record
        input: question
        expected: answer
      shuffle: true          # by the seed, before `limit`
      limit: 100
    prompt: |
      Answer the question with a number only.
      {{input}}
    scorers: [numeric]
"""

_FILE_CASES = """\
{"id": "sum-1", "question": "What is 12 + 30?", "answer": "42"}
{"id": "sum-2", "question": "What is 7 * 8?", "answer": "56"}
"""

_SPEED = """\
benchmarks:
  - benchmark_id: short-answers
    description: How fast and for how much are short questions answered?
    test_type: synthetic
    metrics_measured: [e2e_ms.p50, e2e_ms.p95, ttft_ms.p50, cost_usd]
    dataset:
      cases:
        - input: Say hello.
        - input: Name a color.
        - input: Name an animal.
    concurrency: 1
    iterations:
      warmup: 3
      measured: 20
    early_stop:
      metric: e2e_ms.p50
      half_width: 0.05       # until the interval is within 5%
    scoring_rubric:          # 1 at the target or better, 0 at the limit or worse
      speed: {metric: e2e_ms.p50, target: 500, limit: 20000, scale: log}

# Nothing is judged right or wrong here, so only these count in the overall score.
weights: {accuracy: 0, speed: 0.7, efficiency: 0, cost: 0, reliability: 0.3}
gates:
  - e2e_ms.p95<=5000
"""


def write_starter(path: Path, template: str, *, force: bool = False) -> list[Path]:
    """Write a starter suite (and its data file, if it has one); return the written files.

    Raises UsageError for a name that cannot be, and for a file that is there without `force`.
    """
    if template not in TEMPLATES:
        near = did_you_mean(template, TEMPLATES)
        raise UsageError(f'no template "{template}"{near}; there are {", ".join(TEMPLATES)}')
    _check_name(path)
    bodies = {
        "cases": _CASES + _WEIGHTS,
        "file": _FILE.format(name=path.stem) + _WEIGHTS,
        "speed": _SPEED,
    }
    files = {path: _head(path) + bodies[template] + _AGENTS}
    if template == "file":
        files[path.with_suffix(".jsonl")] = _FILE_CASES
    for one, text in files.items():
        _write(one, text, force=force)
    return list(files)


def write_proposed(path: Path, data: Path, proposal: Proposal, *, force: bool = False) -> None:
    """Write the suite of a proposal for a data file. Raises UsageError like `write_starter`."""
    _check_name(path)
    relative = os.path.relpath(data.absolute(), path.absolute().parent)
    _write(path, _head(path) + proposed_body(relative, proposal) + _AGENTS, force=force)


def _head(path: Path) -> str:
    return _HEAD.format(name=path.stem, file=path.name)


def _check_name(path: Path) -> None:
    if path.suffix.lower() not in {".yaml", ".yml"}:
        raise UsageError(f"{path}: a new suite is YAML; call it {path.stem or 'suite'}.yaml")
    if not is_name(path.stem):
        raise UsageError(f'"{path.stem}" is not a name: letters, digits, ".", "_" and "-"')


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} already exists; overwrite it with --force") from None
    except OSError as error:
        raise write_error(path, error) from None
