"""What a stored run would execute, ask and read when it is resumed or scored again.

The plan of an imported run comes from somebody else. Resuming it runs the commands and the Python
code that it names, reads the files that it names, and sends questions, with the keys of this
machine, to the addresses that it names. Scoring it again runs the code of its scorers, and with
`python_tests` the code in its cases and answers.

Everything counts as something to ask about unless it is listed here as harmless: so a field, a
scheme or a scorer that is added later is asked about until somebody has thought about it. Texts
are taken apart by the functions that the run itself uses, so that no spelling means one thing here
and another there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents.schemes import LISTENING
from agentbench_tui.agents.secret_names import named_variables
from agentbench_tui.agents.target import parse_target
from agentbench_tui.engine.cases.records import access_of_source
from agentbench_tui.engine.games import find_game
from agentbench_tui.engine.kinds import find_runner
from agentbench_tui.engine.task.grading import judge_spec
from agentbench_tui.instruments.registry import BUILT_IN as OWN_INSTRUMENTS
from agentbench_tui.model.access import Access, in_folder
from agentbench_tui.model.errors import AgentbenchError, UsageError
from agentbench_tui.model.kinds import is_known, kind_names
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.scoring.answer_metric import place_of_metric
from agentbench_tui.scoring.registry import name_and_options

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Group, Plan
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Case
    from agentbench_tui.model.suite import Benchmark

HARMLESS_SCHEMES = frozenset({"reference", "mock", "variant", "market"})
"""Schemes of agents that run in this process, and read and send nothing; see also `LISTENING`."""
ASKED = frozenset({"openai", "anthropic", "http", "https", "a2a"})
"""Schemes of agents behind an address."""
PROGRAMS = frozenset({"python", "command", "worker"})
"""Schemes of agents that are code on this machine."""
HARMLESS_SCORERS = frozenset(
    {
        "exact", "normalized", "contains", "regex", "numeric", "multiple_choice", "token_f1",
        "rouge_l", "json_schema", "json_subset", "tool_calls", "weighted", "model_graded",
    }
)  # fmt: skip
"""Scorers that run no foreign code. Their options are checked separately."""
RUNS_ANSWERS = "python_tests"
HARMLESS_FIELDS = frozenset(
    {
        "benchmark_id", "name", "description", "kind", "test_type", "metrics_measured",
        "combine", "constraints", "expected_outputs", "scoring_rubric", "system_prompt", "prompt",
        "parameters", "fresh_process", "iterations", "early_stop", "seed", "sweep", "concurrency",
        "retries", "tags", "notes",
    }
)  # fmt: skip
"""Fields of a benchmark that name nothing outside of the plan."""
EXAMINED_FIELDS = frozenset(
    {"dataset", "game", "instruments", "scorers", "metrics", "experiment", "load", "stress"}
)
"""Fields of a benchmark that may name something; the last three belong to kinds."""
WRITES_INTO = "output_dir"
"""The field of a suite that names something; its other fields name nothing, or are copied into the
plan's own."""
_LONGEST = 2000


def executed_by_resuming(plan: Plan, cases: Iterable[Case] = ()) -> list[str]:
    """A line for each command, piece of code, file and address that resuming would use.

    `cases` are those that are stored with the run.
    """
    agents = {msgspec.json.encode(one.agent): one.agent for _, one in plan.executions()}
    lines = []
    for agent in agents.values():
        lines += [_line(access, f"agent {agent.id}") for access in accesses_of_agent(agent)]
    for group in plan.groups:
        lines += _of_benchmark(group)
    played = [group for group in plan.groups if group.benchmark.get("game") is not None]
    games = dict.fromkeys(str(group.benchmark["game"]) for group in played)
    stored = list(cases) if len(games) > 1 else cases
    for name in games:
        lines += _of_game(name, stored)
    for group in played:
        lines += _of_inline_cases(group)
    for suite in plan.suites:
        if (folder := suite.document.get(WRITES_INTO)) is not None:
            lines.append(_line(Access("writes into", str(folder)), f"suite {suite.suite_id}"))
    return list(dict.fromkeys(lines))


def executed_by_rescoring(plan: Plan) -> list[str]:
    """A line for each piece of code, judge and file that the run's own scorers would use."""
    lines = [line for group in plan.groups for line in _of_scorers(group)]
    return list(dict.fromkeys(lines))


def answers_executed_by(benchmarks: Iterable[Benchmark]) -> list[str]:
    """A line for each benchmark whose scorers run the code in stored answers and cases.

    The scorers are those of a suite of the user's own, so nothing else about them is asked.
    """
    return [
        _line(access, f"scorers of {benchmark.benchmark_id}")
        for benchmark in benchmarks
        for spec in benchmark.scorers
        for access in dict.fromkeys(_of_scorer(spec, ""))
        if access == _CODE_IN_ANSWERS
    ]


_CODE_IN_ANSWERS = Access("runs", f"the code in answers and cases by {RUNS_ANSWERS}")


def _line(access: Access, place: str) -> str:
    return f"{access.verb} {one_line(access.what, _LONGEST)} ({one_line(place)})"


def accesses_of_agent(spec: AgentSpec) -> Iterator[Access]:
    """Return what opening and calling the agent would use."""
    names = sorted(named_variables(msgspec.to_builtins(spec)))
    keys = f", with the values of {', '.join(names)}" if names else ""
    try:
        parsed = parse_target(spec.target)
    except UsageError:
        yield Access("uses", f"the target {spec.target!r}, which cannot be read{keys}")
        return
    if parsed.scheme in PROGRAMS:
        folder = str(Path(spec.base_dir, str(spec.options.get("cwd") or "")))
        yield Access("runs", in_folder(spec.target, "" if folder == "." else folder) + keys)
    elif parsed.scheme in ASKED:
        proxy = spec.options.get("proxy")
        through = f" through {proxy}" if proxy else ""
        yield Access("sends questions to", f"{spec.target}{through}{keys}")
    elif parsed.scheme == "replay":
        yield Access("reads", f"{Path(spec.base_dir, parsed.rest)}{keys}")
    elif f"{parsed.scheme}:{parsed.rest}" in LISTENING:
        host, port = spec.options.get("host"), spec.options.get("port")
        where = f" at {host or '127.0.0.1'}, port {port or 'any'}"
        yield Access("listens on", f"{spec.target}{where}{keys}")
    elif parsed.scheme not in HARMLESS_SCHEMES:
        given = f" with {spec.options}" if spec.options else ""
        yield Access("runs", f"{spec.target}{given}{keys}")
    elif keys:
        yield Access("uses", f"{spec.target}{keys}")


def _of_benchmark(group: Group) -> Iterator[str]:
    """Return what the benchmark's fields would use, for any kind: the reader of one kind may
    read a field of another.
    """
    benchmark, folder = group.benchmark, group.base_dir
    name = benchmark.get("benchmark_id")
    yield from _of_scorers(group)
    for access in _of_dataset(benchmark.get("dataset"), folder):
        yield _line(access, f"dataset of {name}")
    for access in _of_instruments(benchmark.get("instruments"), folder):
        yield _line(access, f"instruments of {name}")
    for kind in kind_names():
        if is_known(kind):
            for access in find_runner(kind).accesses(benchmark, folder):
                yield _line(access, f"{kind} of {name}")
    for field, value in benchmark.items():
        if value and field not in HARMLESS_FIELDS | EXAMINED_FIELDS and not is_known(field):
            yield _line(Access("uses", f"`{field}`, which this version does not know"), str(name))
    elsewhere = {field: value for field, value in benchmark.items() if field != "scorers"}
    if names := sorted(named_variables(elsewhere)):
        yield f"hands out the values of {', '.join(names)} ({name})"


def _of_dataset(dataset: Any, folder: str) -> Iterator[Access]:
    if dataset is None:
        return
    source = dataset.get("data_source") if isinstance(dataset, Mapping) else dataset
    if source is not None:
        yield access_of_source(str(source), Path(folder))


def _of_instruments(instruments: Any, folder: str) -> Iterator[Access]:
    for spec in instruments if isinstance(instruments, list) else ():
        for name in spec if isinstance(spec, Mapping) else (spec,):
            if name not in OWN_INSTRUMENTS:
                yield Access("runs", in_folder(f"the instrument {name}", folder))


def _of_game(name: str, cases: Iterable[Case]) -> Iterator[str]:
    try:
        game = find_game(name)
    except UsageError:
        yield f"uses the game {one_line(name)}, which this version does not have"
        return
    for case in cases:
        for access in game.accesses(case):
            yield _line(access, f"case {case.id}")


def _of_inline_cases(group: Group) -> Iterator[str]:
    """Return what the cases in the plan itself would use, since they may not be stored yet."""
    from agentbench_tui.engine.cases.casebook import open_group

    dataset = group.benchmark.get("dataset")
    if not isinstance(dataset, Mapping) or dataset.get("data_source") is not None:
        return
    try:
        with open_group(group) as cases:
            yield from _of_game(str(group.benchmark["game"]), cases)
    except (AgentbenchError, ValueError):
        yield f"uses cases that cannot be read ({group.benchmark.get('benchmark_id')})"


def _of_scorers(group: Group) -> Iterator[str]:
    scorers = group.benchmark.get("scorers")
    place = f"scorers of {group.benchmark.get('benchmark_id')}"
    for spec in scorers if isinstance(scorers, list) else ():
        for access in _of_scorer(spec, group.base_dir):
            yield _line(access, place)
    yield from _of_metrics(group)
    if names := sorted(named_variables(scorers)):
        yield f"hands out the values of {', '.join(names)} ({place})"


def _of_metrics(group: Group) -> Iterator[str]:
    """Return the code that measures metrics of answers: all of it is foreign."""
    metrics = group.benchmark.get("metrics")
    place = f"metrics of {group.benchmark.get('benchmark_id')}"
    for spec in metrics if isinstance(metrics, list) else ():
        try:
            name = place_of_metric(spec)
        except UsageError:
            yield _line(Access("uses", f"the metric {spec!r}, which cannot be read"), place)
        else:
            yield _line(Access("runs", in_folder(name, group.base_dir)), place)


def _of_scorer(spec: object, folder: str) -> Iterator[Access]:
    """Return what the scorer would use, including everything that it names."""
    try:
        name, options = name_and_options(spec)
    except UsageError:
        yield Access("uses", f"the scorer {spec!r}, which cannot be read")
        return
    if name == RUNS_ANSWERS:
        yield _CODE_IN_ANSWERS
    elif name not in HARMLESS_SCORERS:
        yield Access("runs", in_folder(name, folder))
    if name == "model_graded":
        judges = options.get("judges")
        for judge in judges if isinstance(judges, list) else (judges,):
            yield from _of_judge(judge, folder)
    elif name == "weighted":
        parts = options.get("parts")
        for part in parts if isinstance(parts, list) else (parts,):
            yield from _of_scorer(part.get("scorer") if isinstance(part, dict) else part, folder)
    elif name == "json_schema" and options.get("file") is not None:
        yield Access("reads", str(Path(folder, str(options["file"]))))


def _of_judge(target: object, folder: str) -> Iterator[Access]:
    try:
        spec = judge_spec(str(target), folder)
    except AgentbenchError:
        yield Access("uses", f"the judge {target!r}, which cannot be read")
        return
    yield from accesses_of_agent(spec)
