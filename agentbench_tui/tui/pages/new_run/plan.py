"""Previews the command by `--dry-run`, so that the preview matches the run."""

from __future__ import annotations

import json
import math
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import MISSING, chosen_duration, money
from agentbench_tui.process.environment import python_module
from agentbench_tui.tui.widgets.sentences import Sentence
from agentbench_tui.verdicts.cost.run_estimate import RunEstimate, estimate_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

Document = dict[str, Any]
_LIMIT_S = 60.0
_LONGEST = 500
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan, or why there is none."""

    executions: tuple[Document, ...] = ()
    foresight: RunEstimate | None = None
    fault: str = ""


def look_ahead(arguments: Sequence[str]) -> tuple[list[Document], str]:
    """Return the executions of `agentbench ARGUMENTS`, or its error message. Takes about half a
    second in a separate process, so that an agent's module is not loaded into the session.
    """
    said = asked(*arguments, "--dry-run", "--format", "json")
    if said.returncode == 0:
        return json.loads(said.stdout)["executions"], ""
    return [], refusal(said.stderr)


def asked(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Return the output of `agentbench ARGUMENTS`."""
    command = python_module("agentbench_tui", *arguments)
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        late = f"agentbench: no word of it within {_LIMIT_S:g} s"
        return subprocess.CompletedProcess(command, 2, "", late)


def refusal(stderr: str) -> str:
    """Return the first line with the reason, without the program name."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    for line in lines:
        for start in ("Error: ", "agentbench: "):
            if line.startswith(start):
                return one_line(line.removeprefix(start), _LONGEST)
    return one_line(lines[-1], _LONGEST) if lines else "the command failed without a message"


def preview_of(arguments: Sequence[str], connection: sqlite3.Connection | None) -> Preview:
    """Return plan and estimated time and cost. Raises sqlite3.Error."""
    executions, fault = look_ahead(arguments)
    if fault:
        return Preview(fault=fault)
    asks = executions and all(one.get("observations") is not None for one in executions)
    return Preview(tuple(executions), estimate_run(connection, executions) if asks else None)


def preview_words(preview: Preview) -> list[Sentence]:
    """Return plan, time and cost in lines."""
    if preview.fault:
        return [Sentence(preview.fault, "fault", "bad")]
    said = [Sentence(_plan(preview.executions), "plan")]
    if preview.foresight is not None:
        ahead = preview.foresight
        time = MISSING if ahead.seconds is None else f"about {chosen_duration(ahead.seconds)}"
        said.append(Sentence(f"{time}: {ahead.seconds_why}", "time"))
        if ahead.cost_usd is not None or ahead.cost_why != ahead.seconds_why:
            said.append(Sentence(f"{money(ahead.cost_usd)}: {ahead.cost_why}", "cost"))
    elif any("usual_s" in one for one in preview.executions):
        usual = math.fsum(one["usual_s"] for one in preview.executions)
        longest = math.fsum(one["longest_s"] for one in preview.executions)
        said.append(
            Sentence(f"about {chosen_duration(usual)}, {chosen_duration(longest)} at most", "time")
        )
    schedules = dict.fromkeys(one["schedule"] for one in preview.executions if one.get("schedule"))
    return said + [Sentence(words, "load") for words in list(schedules)[:_SHOWN]]


def _plan(executions: Sequence[Document]) -> str:
    asked_in_all = sum(one.get("observations") or 0 for one in executions)
    count = len(executions)
    words = counted(count, "execution")
    agents = len({one["agent_id"] for one in executions})
    what = sorted({one.get("benchmark_id") or one.get("scenario") or "load" for one in executions})
    words += f" ({counted(agents, 'agent')} × {', '.join(what[:_SHOWN])}"
    words += f" and {len(what) - _SHOWN} more)" if len(what) > _SHOWN else ")"
    if asked_in_all:
        repeats = executions[0]["repeats"]
        cases = sum(one["cases"] or 0 for one in executions)
        words += f", {counted(cases, 'case')} × {counted(repeats, 'repeat')}"
        rounds = {one["iterations"] for one in executions}
        times = counted(min(rounds), "iteration")
        words += f" × {times if len(rounds) == 1 else 'iterations'}"
        words += f" = {counted(asked_in_all, 'question')}"
    return words
