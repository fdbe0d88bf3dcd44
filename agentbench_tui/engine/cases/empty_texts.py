"""Cases whose question or expected answer is an empty text, as of a cell left blank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentbench_tui.engine.cases.copied_cases import cases_of
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.plain_number import counted

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.engine.suite.parameters import Settings


def empty_texts(loaded: LoadedSuite, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the id of each benchmark with empty texts, and in words how many.

    A dialogue needs no question of its own. Generated datasets are left out.
    """
    try:
        suite = loaded.resolve(settings)
    except AgentbenchError:
        return
    for benchmark in suite.benchmarks:
        before, field, after = (benchmark.prompt or "").partition("{input}")
        prompt = f"{before}{after}".strip() if field else ""
        unasked: list[str] = []
        unknown: list[str] = []
        for case in cases_of(loaded, settings, benchmark):
            if not case.messages and _is_empty(case.input, prompt):
                unasked.append(case.id)
            if _is_empty(case.expected):
                unknown.append(case.id)
        for what, ids in (("question", unasked), ("expected answer", unknown)):
            if ids:
                words = f"the {what} of {counted(len(ids), 'case')} is empty (first {ids[0]})"
                yield benchmark.benchmark_id, f"{words}; fill it in, or leave the case out"


def _is_empty(text: object, prompt: str = "") -> bool:
    """Return whether a text, or what it adds to a prompt, is nothing but white space."""
    return isinstance(text, str) and text.strip() in {"", prompt}
