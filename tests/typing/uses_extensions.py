"""What a package that extends agentbench writes; mypy --strict checks it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, assert_type

import agentbench_tui as agentbench
from agentbench_tui import Answer, Case, ExperimentContext, Request, Score


class EchoAgent:
    """A session, as an adapter opens it."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    async def start(self) -> None: ...

    async def answer(self, request: Request) -> Answer:
        return Answer(request.text())

    async def close(self) -> None: ...


class EchoOptions(agentbench.AgentOptions):
    """Options of an adapter."""

    shout: bool = False


def check(spec: agentbench.AgentSpec, options: EchoOptions) -> list[str]:
    return []


def open_agent(
    spec: agentbench.AgentSpec, options: EchoOptions, context: agentbench.OpenContext
) -> agentbench.Agent:
    return EchoAgent()


def exact(case: Case, answer: Answer) -> Score:
    return Score("exact", float(answer.text == case.expected), answer.text == case.expected)


class LengthOptions(agentbench.ScorerOptions):
    """Options of a scorer."""

    longest: int = 100


def build(options: LengthOptions, context: agentbench.ScorerContext) -> agentbench.Scorer:
    return lambda case, answer: Score(context.name, 1.0, len(answer.text) <= options.longest)


RECIPE = agentbench.ScorerRecipe(LengthOptions, build)
SCORER: agentbench.Scorer = exact


@agentbench.register_experiment("sorting")
class Sorting(agentbench.Experiment):
    """An experiment."""

    def execute_once(self, context: ExperimentContext) -> Mapping[str, Any]:
        return {"items": len(sorted(range(context.seed)))}


@contextmanager
def around(context: ExperimentContext) -> Iterator[None]:
    yield


INSTRUMENT: agentbench.Instrument = around


def report(results: Sequence[agentbench.ExperimentResult], output_dir: str) -> None:
    assert_type(results[0].variant, str)


REPORTER: agentbench.Reporter = report
