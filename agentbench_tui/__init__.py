"""agentbench: is an AI agent right, fast, cheap and dependable?

    import agentbench_tui as agentbench

    def answer(question):
        return "Tokyo"

    result = agentbench.run("quickstart", {"mine": answer})
    result.to_pandas()

`__all__` lists what is public; everything else may change without notice. Names are imported when
they are first used, so that importing this package costs next to nothing.
"""

from __future__ import annotations

import sys

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` would cost more
if TYPE_CHECKING:
    from agentbench_tui.agents.adapter import Adapter, AgentOptions, OpenContext
    from agentbench_tui.contracts.compare import (
        ComparedMetric,
        CompareDocument,
        ComparedPair,
        CompareMatrixDocument,
    )
    from agentbench_tui.contracts.leaderboard import Board, LeaderboardDocument, StandingLine
    from agentbench_tui.contracts.load import LoadDistribution, LoadDocument, SweepLimit
    from agentbench_tui.contracts.regressions import RegressionFinding, RegressionsDocument
    from agentbench_tui.contracts.run import (
        ExecutionResult,
        GateOutcome,
        MetricValue,
        RunDocument,
        RunLeaderboardEntry,
    )
    from agentbench_tui.contracts.runs import (
        AnswerLine,
        AnswersDocument,
        FailureDetail,
        RunsDocument,
        RunSummary,
    )
    from agentbench_tui.contracts.service import RunConfiguration
    from agentbench_tui.contracts.stress import AgentStress, ScenarioResult
    from agentbench_tui.engine.kinds import Runner as KindRunner
    from agentbench_tui.experiments.decorator import benchmark
    from agentbench_tui.experiments.experiment import (
        Experiment,
        ExperimentContext,
        register_experiment,
    )
    from agentbench_tui.experiments.instrument import Around as Instrument
    from agentbench_tui.experiments.results import ExperimentResult, Reporter
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import (
        Agent,
        AgentFailure,
        Answer,
        Case,
        FailureKind,
        GraderFailure,
        Message,
        Request,
        Score,
        Scorer,
        Span,
        ToolCall,
        Usage,
    )
    from agentbench_tui.model.errors import (
        AgentbenchError,
        GateFailed,
        Interrupted,
        MissingExtra,
        Problem,
        StoreError,
        SuiteError,
        Unmeasured,
        UsageError,
    )
    from agentbench_tui.model.kinds import Kind
    from agentbench_tui.model.suite import Benchmark, Dataset, Suite
    from agentbench_tui.python_api.agents import AgentLike, AgentsLike
    from agentbench_tui.python_api.client import Client, ServiceEvent, ServiceFailed
    from agentbench_tui.python_api.load_results import LoadResult, StressResult
    from agentbench_tui.python_api.load_testing import load, load_async
    from agentbench_tui.python_api.planned_run import Database
    from agentbench_tui.python_api.progress import OnProgress, RunProgress
    from agentbench_tui.python_api.results import Result, RunResult
    from agentbench_tui.python_api.running import run, run_async
    from agentbench_tui.python_api.store import Store, compare, leaderboard, open_store, regressions
    from agentbench_tui.python_api.stress_testing import ScenariosLike, stress, stress_async
    from agentbench_tui.python_api.suites import SuiteLike, SuitesLike
    from agentbench_tui.python_api.verdict_results import (
        AnswersResult,
        ComparisonResult,
        LeaderboardResult,
        RegressionsResult,
        RunsResult,
    )
    from agentbench_tui.scoring.answer_metric import AnswerMetric
    from agentbench_tui.scoring.recipe import Context as ScorerContext
    from agentbench_tui.scoring.recipe import Options as ScorerOptions
    from agentbench_tui.scoring.recipe import Recipe as ScorerRecipe

__all__ = [
    "Adapter",
    "Agent",
    "AgentFailure",
    "AgentLike",
    "AgentOptions",
    "AgentSpec",
    "AgentStress",
    "AgentbenchError",
    "AgentsLike",
    "Answer",
    "AnswerLine",
    "AnswerMetric",
    "AnswersDocument",
    "AnswersResult",
    "Benchmark",
    "Board",
    "Case",
    "Client",
    "CompareDocument",
    "CompareMatrixDocument",
    "ComparedMetric",
    "ComparedPair",
    "ComparisonResult",
    "Database",
    "Dataset",
    "ExecutionResult",
    "Experiment",
    "ExperimentContext",
    "ExperimentResult",
    "FailureDetail",
    "FailureKind",
    "GateFailed",
    "GateOutcome",
    "GraderFailure",
    "Instrument",
    "Interrupted",
    "Kind",
    "KindRunner",
    "LeaderboardDocument",
    "LeaderboardResult",
    "LoadDistribution",
    "LoadDocument",
    "LoadResult",
    "Message",
    "MetricValue",
    "MissingExtra",
    "OnProgress",
    "OpenContext",
    "Problem",
    "RegressionFinding",
    "RegressionsDocument",
    "RegressionsResult",
    "Reporter",
    "Request",
    "Result",
    "RunConfiguration",
    "RunDocument",
    "RunLeaderboardEntry",
    "RunProgress",
    "RunResult",
    "RunSummary",
    "RunsDocument",
    "RunsResult",
    "ScenarioResult",
    "ScenariosLike",
    "Score",
    "Scorer",
    "ScorerContext",
    "ScorerOptions",
    "ScorerRecipe",
    "ServiceEvent",
    "ServiceFailed",
    "Span",
    "StandingLine",
    "Store",
    "StoreError",
    "StressResult",
    "Suite",
    "SuiteError",
    "SuiteLike",
    "SuitesLike",
    "SweepLimit",
    "ToolCall",
    "Unmeasured",
    "Usage",
    "UsageError",
    "benchmark",
    "compare",
    "leaderboard",
    "load",
    "load_async",
    "open_store",
    "register_experiment",
    "regressions",
    "run",
    "run_async",
    "stress",
    "stress_async",
]

_HOMES = {
    "Adapter": "agents.adapter",
    "Agent": "model.answer",
    "AgentFailure": "model.answer",
    "AgentLike": "python_api.agents",
    "AgentOptions": "agents.adapter",
    "AgentSpec": "model.agent",
    "AgentStress": "contracts.stress",
    "AgentbenchError": "model.errors",
    "AgentsLike": "python_api.agents",
    "Answer": "model.answer",
    "AnswerMetric": "scoring.answer_metric",
    "AnswerLine": "contracts.runs",
    "AnswersDocument": "contracts.runs",
    "AnswersResult": "python_api.verdict_results",
    "Benchmark": "model.suite",
    "Board": "contracts.leaderboard",
    "Case": "model.answer",
    "Client": "python_api.client",
    "CompareDocument": "contracts.compare",
    "CompareMatrixDocument": "contracts.compare",
    "ComparedMetric": "contracts.compare",
    "ComparedPair": "contracts.compare",
    "ComparisonResult": "python_api.verdict_results",
    "Database": "python_api.planned_run",
    "Dataset": "model.suite",
    "ExecutionResult": "contracts.run",
    "Experiment": "experiments.experiment",
    "ExperimentContext": "experiments.experiment",
    "ExperimentResult": "experiments.results",
    "FailureDetail": "contracts.runs",
    "FailureKind": "model.answer",
    "GateFailed": "model.errors",
    "GateOutcome": "contracts.run",
    "GraderFailure": "model.answer",
    "Instrument": "experiments.instrument:Around",
    "Interrupted": "model.errors",
    "Kind": "model.kinds",
    "KindRunner": "engine.kinds:Runner",
    "LeaderboardDocument": "contracts.leaderboard",
    "LeaderboardResult": "python_api.verdict_results",
    "LoadDistribution": "contracts.load",
    "LoadDocument": "contracts.load",
    "LoadResult": "python_api.load_results",
    "Message": "model.answer",
    "MetricValue": "contracts.run",
    "MissingExtra": "model.errors",
    "OnProgress": "python_api.progress",
    "OpenContext": "agents.adapter",
    "Problem": "model.errors",
    "RunProgress": "python_api.progress",
    "RegressionFinding": "contracts.regressions",
    "RegressionsDocument": "contracts.regressions",
    "RegressionsResult": "python_api.verdict_results",
    "Reporter": "experiments.results",
    "Request": "model.answer",
    "Result": "python_api.results",
    "RunConfiguration": "contracts.service",
    "RunDocument": "contracts.run",
    "RunLeaderboardEntry": "contracts.run",
    "RunResult": "python_api.results",
    "RunSummary": "contracts.runs",
    "RunsDocument": "contracts.runs",
    "RunsResult": "python_api.verdict_results",
    "ScenarioResult": "contracts.stress",
    "ScenariosLike": "python_api.stress_testing",
    "Score": "model.answer",
    "Scorer": "model.answer",
    "ScorerContext": "scoring.recipe:Context",
    "ScorerOptions": "scoring.recipe:Options",
    "ScorerRecipe": "scoring.recipe:Recipe",
    "ServiceEvent": "python_api.client",
    "ServiceFailed": "python_api.client",
    "Span": "model.answer",
    "StandingLine": "contracts.leaderboard",
    "Store": "python_api.store",
    "StoreError": "model.errors",
    "StressResult": "python_api.load_results",
    "Suite": "model.suite",
    "SuiteError": "model.errors",
    "SuiteLike": "python_api.suites",
    "SuitesLike": "python_api.suites",
    "SweepLimit": "contracts.load",
    "ToolCall": "model.answer",
    "Unmeasured": "model.errors",
    "Usage": "model.answer",
    "UsageError": "model.errors",
    "benchmark": "experiments.decorator",
    "compare": "python_api.store",
    "leaderboard": "python_api.store",
    "load": "python_api.load_testing",
    "load_async": "python_api.load_testing",
    "open_store": "python_api.store",
    "register_experiment": "experiments.experiment",
    "regressions": "python_api.store",
    "run": "python_api.running",
    "run_async": "python_api.running",
    "stress": "python_api.stress_testing",
    "stress_async": "python_api.stress_testing",
}
"""Public name → module of this package that has it, with its name there if that is another."""


if not TYPE_CHECKING:  # for a type checker every name would exist
    _PACKAGES = _HOMES.keys() & {"load", "stress"}
    """Packages named like a function: when one is imported, Python binds the name to it."""

    class _Callable(type(sys)):
        """A package that calls the function of its name and shows its documentation."""

        @property
        def _function(self):
            from importlib import import_module

            name = self.__name__.rpartition(".")[2]
            return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

        def __call__(self, *args, **options):
            return self._function(*args, **options)

        @property
        def __signature__(self):
            from inspect import signature

            return signature(self._function)

        @property
        def __doc__(self):
            return self._function.__doc__

    class _Face(type(sys)):
        """This package: when a package named like a function is imported, makes it callable."""

        def __setattr__(self, name, value):
            if name in _PACKAGES and isinstance(value, type(sys)):
                value.__class__ = _Callable
            super().__setattr__(name, value)

    def __getattr__(name):
        place = _HOMES.get(name)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        module, _, own_name = place.partition(":")
        found = getattr(import_module(f"{__name__}.{module}"), own_name or name)
        globals()[name] = found
        return found

    def __dir__():
        return sorted({*globals(), *__all__})

    sys.modules[__name__].__class__ = _Face
