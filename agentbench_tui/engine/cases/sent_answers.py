"""Cases whose expected answer is contained in the text sent to the agent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from agentbench_tui.engine.cases.copied_cases import cases_of
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.plain_number import counted

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.engine.suite.parameters import Settings
    from agentbench_tui.model.answer import Case
    from agentbench_tui.model.suite import Benchmark

_LOOKED_AT = 1000
_SHORTEST = 12
"""Characters of an answer whose presence is no coincidence."""


def sent_answers(loaded: LoadedSuite, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the id of each benchmark that sends expected answers, and in words how many.

    Only of the first 1,000 cases, and of texts of at least 12 characters: a short answer stands in
    a question by chance, or among its choices. Generated datasets are left out.
    """
    try:
        suite = loaded.resolve(settings)
    except AgentbenchError:
        return
    for benchmark in suite.benchmarks:
        if _lists_answers(benchmark):
            continue
        cases = list(islice(cases_of(loaded, settings, benchmark), _LOOKED_AT))
        found = [case for case in cases if _is_sent(case, benchmark.prompt or "")]
        if found:
            verb = "stands" if len(found) == 1 else "stand"
            words = (
                f"the expected answer of {counted(len(found), 'case')} {verb} in what the agent is"
                f" sent (first {found[0].id}); right only where the task is to find it there"
            )
            yield benchmark.benchmark_id, words


def _lists_answers(benchmark: Benchmark) -> bool:
    """Return whether the answer is one of the choices that the question lists."""
    from agentbench_tui.scoring.registry import name_and_options

    return any(name_and_options(spec)[0] == "multiple_choice" for spec in benchmark.scorers)


def _is_sent(case: Case, prompt: str) -> bool:
    expected = case.expected
    # Where each scorer has its own part, any part may be sent.
    texts = [*expected.values()] if isinstance(expected, dict) else [expected]
    wanted = [one.strip() for one in texts if isinstance(one, str)]
    sent = [str(case.input), *(str(message.content) for message in case.messages)]
    return any(
        len(one) >= _SHORTEST and one not in prompt and any(one in text for text in sent)
        for one in wanted
    )
