"""Finds problems of a suite beyond its syntax before anything runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agentbench_tui.engine.kinds import find_runner
from agentbench_tui.engine.suite.loading import LoadedSuite, from_reference, in_order
from agentbench_tui.engine.suite.parameters import NO_SETTINGS, Settings, missing, type_problem
from agentbench_tui.engine.suite.position import KeyPath, has
from agentbench_tui.engine.suite.sweep import points
from agentbench_tui.instruments.registry import check_instrument
from agentbench_tui.model.errors import (
    MissingExtra,
    Problem,
    SuiteError,
    UsageError,
    did_you_mean,
)
from agentbench_tui.model.figures.metric import (
    SCORES,
    declare_metric,
    declared_metrics,
    find_metric,
    known_metrics,
)
from agentbench_tui.model.gate import parse_gate
from agentbench_tui.model.identity import content_hash
from agentbench_tui.model.kinds import is_known, kind_named, metrics_of_kinds

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark, Suite


def validate_suite(
    loaded: LoadedSuite,
    agents: Sequence[AgentSpec] | None = None,
    settings: Settings = NO_SETTINGS,
    *,
    seed: int | None = None,
    datasets: bool = False,
) -> list[Problem]:
    """Return every problem of a loaded suite, in the order of its file.

    `agents` are those to run instead of the suite's own, `seed` stands in for its seeds. Each
    sweep point, scorer and agent is checked; of datasets the first cases are read, or all with
    `datasets`. Parts that need a required parameter without a value are left out. Scorers and
    agents written in Python are imported, and a dataset's Python generator is run.
    """
    try:
        suite = loaded.resolve(settings)
    except SuiteError as error:
        return list(error.problems)
    checker = _Checker(loaded, suite, settings, seed=seed, whole=datasets)
    checker.parameters()
    checker.agents(agents)
    for index in range(len(suite.benchmarks)):
        checker.benchmark(index)
    checker.names(agents)  # after experiments, which bring names of their own for gates
    return in_order(checker.problems)


class _Checker:
    """Collects problems of one suite."""

    def __init__(
        self,
        loaded: LoadedSuite,
        suite: Suite,
        settings: Settings,
        *,
        seed: int | None,
        whole: bool,
    ) -> None:
        self.problems: list[Problem] = []
        self._loaded = loaded
        self._suite = suite
        self._settings = settings
        self._seed = seed
        self._whole = whole
        self._open = missing(suite, settings)
        """Required parameters without a value so far."""

    def add(self, path: KeyPath, message: str, *, key: bool = False) -> None:
        self.problems.append(self._loaded.places.problem(path, message, key=key))

    def parameters(self) -> None:
        for name, parameter in self._suite.parameters.items():
            if message := type_problem(parameter):
                self.add(("parameters", name), message)

    def names(self, agents: Sequence[AgentSpec] | None) -> None:
        """Check names that must be unique, and names that must exist."""
        suite = self._suite
        benchmark_ids = [benchmark.benchmark_id for benchmark in suite.benchmarks]
        agent_ids = [agent.id for agent in suite.agents]
        for index in _repeated(benchmark_ids):
            where = ("benchmarks", index, "benchmark_id")
            self.add(where, f'a second benchmark "{benchmark_ids[index]}"')
        for index in _repeated(agent_ids):
            self.add(("agents", index, "id"), f'a second agent "{agent_ids[index]}"')
        if suite.parallelism > 1 and suite.weights.speed > 0:
            self.add(
                ("parallelism",),
                "several sweep points at once disturb each other's times: give `speed` the weight"
                " 0, or leave parallelism at 1",
            )
        known = [*agent_ids, *(agent.id for agent in agents or ())]
        if suite.baseline is not None and agent_ids and suite.baseline not in known:
            near = did_you_mean(suite.baseline, known)
            self.add(("baseline",), f'no agent "{suite.baseline}" in this suite{near}')
        for index, text in enumerate(suite.gates):
            try:
                parse_gate(text)
            except UsageError as error:
                self.add(("gates", index), str(error))
        for index, scores in enumerate(suite.baseline_scores):
            path: KeyPath = ("baseline_scores", index)
            if scores.benchmark_id is not None and scores.benchmark_id not in benchmark_ids:
                near = did_you_mean(scores.benchmark_id, benchmark_ids)
                self.add((*path, "benchmark_id"), f'no benchmark "{scores.benchmark_id}"{near}')
            for name in scores.scores:
                if name not in SCORES:
                    near = did_you_mean(name, SCORES) or f"; there are {', '.join(SCORES)}"
                    self.add((*path, "scores", name), f'no score "{name}"{near}', key=True)

    def agents(self, agents: Sequence[AgentSpec] | None) -> None:
        from agentbench_tui.agents.target import spec_from_table

        check_agent = self._agent_check()
        if agents is not None:
            for agent in agents:
                option = f"--agent {agent.id}"
                self.problems += [Problem(text, path=option) for text in check_agent(agent)]
            return
        for index, table in enumerate(self._suite.agents):
            path: KeyPath = ("agents", index)
            if self._needs_value(path):
                continue
            try:
                found = check_agent(spec_from_table(table, str(self._loaded.folder)))
            except UsageError as error:
                found = [str(error)]
            for message in found:
                self.add((*path, "target"), message)
            if not found:
                self._memory_limits(spec_from_table(table, str(self._loaded.folder)))
            self._same_at_every_point(path)

    def _memory_limits(self, agent: AgentSpec) -> None:
        """Find the benchmarks whose memory limit cannot be enforced for an agent of the suite."""
        from agentbench_tui.engine.suite.limits import unlimited_memory

        for index, benchmark in enumerate(self._suite.benchmarks):
            if (reason := unlimited_memory(benchmark, agent)) is not None:
                where = ("benchmarks", index, "constraints", "memory_limit_mb")
                self.add(where, reason, key=True)

    def _agent_check(self) -> Callable[[AgentSpec], list[str]]:
        """Return how agents are checked: by the game, if they only play one."""
        from agentbench_tui.agents.registry import check_agent
        from agentbench_tui.engine.games import GAMES, find_game

        names = {benchmark.game or "" for benchmark in self._suite.benchmarks}
        name = names.pop() if len(names) == 1 else ""
        return find_game(name).check_agent if name in GAMES else check_agent

    def _same_at_every_point(self, path: KeyPath) -> None:
        """Check that an agent uses no value of a single benchmark or a sweep, since it is the same
        for all.
        """
        text = json.dumps(self._loaded.data["agents"][path[-1]])
        everywhere = self._loaded.values_for_agents(self._settings)
        for benchmark in self._suite.benchmarks:
            pinned = self._settings.of(benchmark.benchmark_id)
            for name in benchmark.sweep.parameters if benchmark.sweep else ():
                if name not in pinned and f"${{{name}}}" in text:
                    self.add(
                        path,
                        f"${{{name}}} is swept in {benchmark.benchmark_id}, but an agent is the"
                        " same at every point: it is told the point with each question; or list"
                        " an agent for each value",
                    )
            for name, value in {**benchmark.parameters, **pinned}.items():
                if f"${{{name}}}" in text and value != everywhere.get(name):
                    self.add(
                        path,
                        f"${{{name}}} is {json.dumps(value)} in {benchmark.benchmark_id}, but an"
                        " agent is the same for all benchmarks and gets the suite's value"
                        f" {json.dumps(everywhere.get(name))}; list an agent for each value",
                    )

    def benchmark(self, index: int) -> None:
        path: KeyPath = ("benchmarks", index)
        listed = self._suite.benchmarks[index]
        if not is_known(listed.kind):
            self.add((*path, "kind"), f"kind '{listed.kind}' is not built into this version")
            return
        self._kind(path, listed)
        for position, spec in enumerate(listed.instruments):
            for message in check_instrument(spec, listed.kind):
                self.add((*path, "instruments", position), message)
        self._swept_names(path, listed)
        seen: set[str] = set()
        for benchmark in self._at_points(index):
            if self._is_new(benchmark, seen, leave_out=("parameters", "sweep")):
                self._kind(path, benchmark)
                self._scorers(path, benchmark)
                kind = kind_named(benchmark.kind)
                if not kind.measures_code:
                    self._metrics(path, benchmark)
                if kind.reads_dataset:
                    self._dataset(path, benchmark, seen)

    def _kind(self, path: KeyPath, benchmark: Benchmark) -> None:
        """Add the problems that the benchmark's kind finds."""
        for found in find_runner(benchmark.kind).check(benchmark, str(self._loaded.folder)):
            if isinstance(found, str):
                self.add(path, found)
            elif not self._needs_value(path, found.path):
                where = (*path, *found.path)
                reference = from_reference(self._loaded.data, where)
                self.add(where, found.message + reference, key=found.at_key)

    def _swept_names(self, path: KeyPath, benchmark: Benchmark) -> None:
        """Check swept names: one that nothing uses may be the agent's; a near miss is a
        misspelling.
        """
        declared = [*self._suite.parameters, *benchmark.parameters]
        text = json.dumps(self._loaded.data["benchmarks"][path[-1]])
        for name in benchmark.sweep.parameters if benchmark.sweep else ():
            near = did_you_mean(name, declared)
            if near and name not in declared and f"${{{name}}}" not in text:
                where = (*path, "sweep", "parameters", name)
                self.add(where, f'no parameter "{name}" is declared{near}', key=True)

    def _at_points(self, index: int) -> Iterator[Benchmark]:
        """Yield the benchmark at each point of its sweep; only once if points make no
        difference.

        Points at which it does not hold are problems.
        """
        listed = self._suite.benchmarks[index]
        try:
            found = points(
                listed.sweep, self._seed_of(listed), self._settings.of(listed.benchmark_id)
            )
        except SuiteError as error:
            for problem in error.problems:
                self.add(("benchmarks", index, problem.path), problem.message)
            return
        refers = "${" in json.dumps(self._loaded.data["benchmarks"][index])
        for point in found if refers else found[:1]:
            try:
                yield self._loaded.benchmark(index, self._settings, point)
            except SuiteError as error:
                self.problems += error.problems

    def _seed_of(self, benchmark: Benchmark) -> int:
        if self._seed is not None:
            return self._seed
        return self._suite.seed if benchmark.seed is None else benchmark.seed

    def _is_new(self, part: Any, seen: set[str], leave_out: Iterable[str] = ()) -> bool:
        digest = content_hash(part.model_dump(mode="json", exclude=set(leave_out)))
        known = digest in seen
        seen.add(digest)
        return not known

    def _scorers(self, path: KeyPath, benchmark: Benchmark) -> None:
        from agentbench_tui.engine.task.grading import scorer_problems
        from agentbench_tui.scoring.benchmark_metrics import metric_problems, scorer_metrics

        for index, spec in enumerate(benchmark.scorers):
            if self._needs_value((*path, "scorers", index)):
                continue
            for message in scorer_problems(spec, self._loaded.folder):
                self.add((*path, "scorers", index), message)
        for index, message in metric_problems(benchmark.scorers):
            self.add((*path, "scorers", index), message)
        for metric in scorer_metrics(benchmark.scorers):
            declare_metric(metric)
        if benchmark.metrics:
            self._answer_metrics(path, benchmark)

    def _answer_metrics(self, path: KeyPath, benchmark: Benchmark) -> None:
        """Check the metrics that the benchmark defines, and declare them, so that gates can name
        them.
        """
        from agentbench_tui.scoring.answer_metric import answer_metrics, check_metric
        from agentbench_tui.scoring.benchmark_metrics import name_problems, scorer_metrics

        problems = [
            (index, message)
            for index, spec in enumerate(benchmark.metrics)
            for message in check_metric(spec, self._loaded.folder)
        ]
        if not problems:
            found = answer_metrics(benchmark.metrics, self._loaded.folder)
            taken = [metric.name for metric in scorer_metrics(benchmark.scorers)]
            problems = name_problems([metric.name for metric in found], taken)
            for metric in (one for own in found for one in own.declared()):
                declare_metric(metric)
        for index, message in problems:
            self.add((*path, "metrics", index), message)

    def _metrics(self, path: KeyPath, benchmark: Benchmark) -> None:
        for index, name in enumerate(benchmark.metrics_measured):
            if find_metric(name) is None:
                self.add((*path, "metrics_measured", index), _no_metric(name))
        for dimension, entry in benchmark.scoring_rubric.items():
            known = {*known_metrics(), *metrics_of_kinds(), *declared_metrics()}
            if entry.metric not in known:
                where = (*path, "scoring_rubric", dimension, "metric")
                self.add(where, _no_metric(entry.metric))

    def _dataset(self, path: KeyPath, benchmark: Benchmark, seen: set[str]) -> None:
        if self._needs_value((*path, "dataset")):
            return
        reads = benchmark.model_dump(
            mode="json",
            include={"dataset", "prompt", "system_prompt", "expected_outputs", "scorers"},
        )
        digest = content_hash(reads)
        if digest in seen:
            return
        seen.add(digest)
        try:
            self._read_dataset(benchmark)
        except SuiteError as error:
            for problem in error.problems:
                self._anchor(path, problem)
        except (MissingExtra, UsageError) as error:
            self.add((*path, "dataset", "data_source"), str(error))

    def _read_dataset(self, benchmark: Benchmark) -> None:
        """Read the first case of a dataset, or all cases if the first is not enough to decide."""
        from agentbench_tui.engine.cases.dataset import open_dataset, scorer_of_expected

        dataset = benchmark.dataset
        assert dataset is not None
        is_generated = (dataset.data_source or "").startswith("python:")

        def read(*, whole: bool) -> bool:
            with open_dataset(
                benchmark,
                base_dir=self._loaded.folder,
                seed=self._seed_of(benchmark),
                parameters=self._loaded.values(benchmark, self._settings),
                limit=None if whole else 1,
                is_probe=not whole,
            ) as source:
                return source.has_expected

        # A generator may never end; the run itself judges the cases that it takes from one.
        has_expected = read(whole=self._whole)
        if not (has_expected or self._whole or is_generated) and scorer_of_expected(benchmark):
            read(whole=True)

    def _anchor(self, path: KeyPath, problem: Problem) -> None:
        """Locate a problem: in a data file, or at its position in the suite."""
        if problem.line is not None:
            self.problems.append(problem)
        elif problem.file:
            message = f"{problem.file}: {problem.message}"
            self.add((*path, "dataset", "data_source"), message)
        else:
            parts = tuple(int(part) if part.isdigit() else part for part in problem.path.split("."))
            self.add((*path, *parts), problem.message)

    def _needs_value(self, path: KeyPath, inside: KeyPath = ()) -> bool:
        """Return whether the part at `path` uses a required parameter without a value.

        The path `inside`, which continues from there, is followed as far as the file has it.
        """
        part: Any = self._loaded.data
        for step in path:
            part = part[step]
        for step in inside:
            if not has(part, step):
                break
            part = part[step]
        text = json.dumps(part)
        return any(f"${{{name}}}" in text for name in self._open)


def _repeated(names: Sequence[str]) -> list[int]:
    """Return the positions of repeated names."""
    return [index for index, name in enumerate(names) if name in names[:index]]


def _no_metric(name: str) -> str:
    near = did_you_mean(name, known_metrics())
    return f'no metric "{name}"{near or "; `agentbench explain` lists them"}'
