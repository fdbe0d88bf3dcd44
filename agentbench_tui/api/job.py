"""A child process of the service that plans a run and starts it, or imports a file.

Planning may run code of a suite, and an imported file comes from elsewhere, so neither happens in
the process of the service. Started as `python -m agentbench_tui.api.job`; reads a job as JSON from
stdin, writes its outcome as JSON to stdout, and leaves the run behind.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

import agentbench_tui.model.clock  # noqa: F401  # before any code of the user's
from agentbench_tui.contracts.service import RunConfiguration
from agentbench_tui.model.errors import (
    AgentbenchError,
    StoreError,
    SuiteError,
    UsageError,
    did_you_mean,
)

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.catalog import CatalogEntry
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.model.agent import AgentSpec


class StartJob(msgspec.Struct, frozen=True, tag="start"):
    """A run to plan and to start."""

    database: str
    suite_id: str
    agent_id: str
    configuration: RunConfiguration
    suite_folders: tuple[str, ...]
    agents: tuple[str, ...]
    """`ID[@VERSION]=TARGET` that the operator allowed."""
    schemes: tuple[str, ...]
    """Schemes of targets that a request may name."""


class ImportJob(msgspec.Struct, frozen=True, tag="import"):
    """A file whose runs are to be imported."""

    database: str
    file: str


class Started(msgspec.Struct, frozen=True, tag="started"):
    """The run has registered itself in the database."""

    run_id: str


class Copied(msgspec.Struct, frozen=True, tag="copied"):
    """What became of the runs of a file."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    refused: tuple[str, ...]


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """Why the job was not done."""

    kind: str
    """`not-found`, `forbidden`, `usage`, `suite` or `failed`."""
    detail: str
    problems: tuple[str, ...] = ()


Job: TypeAlias = "StartJob | ImportJob"
Outcome: TypeAlias = "Started | Copied | Refused"


class Forbidden(UsageError):
    """The operator has not allowed what the request names."""


class Unknown(UsageError):
    """There is no such suite or agent."""


def main() -> None:
    """Do the job on stdin."""
    kept = os.dup(1)
    os.dup2(2, 1)  # what code of a suite prints
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=StartJob | ImportJob)
    outcome = outcome_of(job)
    with os.fdopen(kept, "wb") as stream:
        stream.write(msgspec.json.encode(outcome))


def outcome_of(job: Job) -> Outcome:
    """Do a job; errors that people can act on are outcomes too."""
    try:
        return _start(job) if isinstance(job, StartJob) else _import(job)
    except Unknown as error:
        return Refused("not-found", str(error))
    except Forbidden as error:
        return Refused("forbidden", str(error))
    except SuiteError as error:
        problems = tuple(": ".join(filter(None, (p.path, p.message))) for p in error.problems)
        return Refused("suite", f"suite or configuration not valid: {problems[0]}", problems)
    except UsageError as error:
        return Refused("usage", str(error))
    except AgentbenchError as error:
        return Refused("failed", str(error))


def _import(job: ImportJob) -> Copied | Refused:
    from agentbench_tui.store.archive import import_runs
    from agentbench_tui.verdicts.evidence.stored_documents import stored_soundness

    try:
        found = import_runs(Path(job.database), Path(job.file), stored_soundness())
    except (StoreError, UsageError) as error:
        if job.file not in str(error):
            raise
        return Refused("usage", str(error).replace(job.file, "the file"))
    return Copied(found.new, found.known, found.refused)


def _start(job: StartJob) -> Started:
    from agentbench_tui.engine.run.launch import launch, log_path, wait_until_registered
    from agentbench_tui.engine.run.planning import RunOptions, make_plan
    from agentbench_tui.stress.safety import check_consent

    given = job.configuration
    loaded = find_suite_of_service(job.suite_id, tuple(map(Path, job.suite_folders)))
    agent = find_agent(job, loaded)
    plan = make_plan(
        [loaded],
        RunOptions(
            agents=(agent,),
            benchmarks=given.benchmarks,
            cases=given.cases,
            repeats=given.runs,
            iterations=given.iterations,
            warmup=given.warmup,
            limit=given.limit,
            seed=given.seed,
            seeds=given.seeds,
            concurrency=given.concurrency,
            settings=settings_of(loaded, given),
            cost_limit_usd=given.max_cost_usd,
            token_limit=given.max_tokens,
            gates=_checked_gates(given.gates),
            tags=given.tags,
            notes=given.notes,
            command="agentbench serve",
            folder=loaded.folder,
        ),
    )
    check_consent(plan)
    database, log = Path(job.database), log_path(plan.run_id)
    process = launch(plan, database, log)
    wait_until_registered(plan.run_id, database, process, log)
    return Started(plan.run_id)


def _checked_gates(gates: tuple[str, ...]) -> tuple[str, ...]:
    from agentbench_tui.model.gate import parse_gate

    for gate in gates:
        parse_gate(gate)
    return gates


def service_suites(folders: tuple[Path, ...]) -> dict[str, CatalogEntry]:
    """Name → suite, of the configured folders and then of the shipped ones."""
    from agentbench_tui.engine.suite.catalog import shipped_folder, suites_in_folder

    found: dict[str, CatalogEntry] = {}
    for folder in folders:
        for entry in suites_in_folder(folder, "folder"):
            found.setdefault(entry.name, entry)
    for entry in suites_in_folder(shipped_folder(), "shipped"):
        found.setdefault(entry.name, entry)
    return dict(sorted(found.items()))


def find_suite_of_service(name: str, folders: tuple[Path, ...]) -> LoadedSuite:
    """Load a suite by its name, else by its `suite_id`. Raises Unknown, and SuiteError.

    A name is only compared with those of the folders' files, so that it cannot lead elsewhere.
    """
    from agentbench_tui.engine.suite.loading import load_suite

    entries = service_suites(folders)
    if (entry := entries.get(name)) is not None and entry.path is not None:
        return load_suite(str(entry.path))
    for entry in entries.values():
        if not _mentions(entry, name):  # reading a suite takes a hundred times as long
            continue
        try:
            loaded = load_suite(str(entry.path))
        except AgentbenchError:
            continue
        if loaded.suite.suite_id == name:
            return loaded
    raise Unknown(f"no suite '{name}'{did_you_mean(name, entries)}; GET /suites lists them")


def _mentions(entry: CatalogEntry, suite_id: str) -> bool:
    """Return whether the text of a suite's file could hold that id."""
    try:
        return entry.path is not None and suite_id.encode() in entry.path.read_bytes()
    except OSError:
        return False


def find_agent(job: StartJob, loaded: LoadedSuite) -> AgentSpec:
    """Return the agent that a request names: one of the suite, one that the operator listed, one
    that was measured before, or a target.

    The first two are the operator's. Of the others, only those that run no code, read no file and
    contact no address are allowed, and those whose scheme the operator allowed. Raises Unknown, and
    Forbidden.
    """
    from agentbench_tui.agents.target import parse_agent, spec_from_table

    wanted = job.agent_id
    for table in loaded.suite.agents:
        if table.id == wanted:
            return spec_from_table(table, str(loaded.folder))
    for text in job.agents:
        spec = parse_agent(text, base_dir=str(Path.cwd()))
        if spec.id == wanted:
            return spec
    return _checked_agent(job, _measured_agent(job, wanted) or _target(job, wanted, loaded))


def _target(job: StartJob, text: str, loaded: LoadedSuite) -> AgentSpec:
    from agentbench_tui.agents.target import parse_agent

    try:
        return parse_agent(text, base_dir=str(loaded.folder))
    except UsageError:
        ids = [table.id for table in loaded.suite.agents]
        ids += [one.partition("=")[0].partition("@")[0] for one in job.agents]
        hint = did_you_mean(text, ids)
        listed = f"; there are {', '.join(ids)}" if ids else ""
        raise Unknown(f"no agent '{text}'{hint}{listed}") from None


def _measured_agent(job: StartJob, agent_id: str) -> AgentSpec | None:
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.selection import newest_specification

    with reading(Path(job.database)) as connection:
        return newest_specification(connection, agent_id)


def _checked_agent(job: StartJob, spec: AgentSpec) -> AgentSpec:
    from agentbench_tui.agents.target import parse_target
    from agentbench_tui.engine.run.trust import accesses_of_agent

    scheme = parse_target(spec.target).scheme
    if scheme not in job.schemes and any(accesses_of_agent(spec)):
        raise Forbidden(
            f"agent '{spec.id}': targets of the scheme {scheme}: are not allowed here; the operator"
            f" can allow them with `agentbench serve --allow-target {scheme}`, or list this agent"
            " with --agent"
        )
    return spec


def settings_of(loaded: LoadedSuite, given: RunConfiguration) -> tuple[str, ...]:
    """Return the parameters of a request as `--set` has them.

    A text could name a file or become part of a command, so it has to be one of the choices that
    the suite declares; numbers and true or false have to be of a parameter of such a type. Raises
    Forbidden, and UsageError for a parameter that is not declared.
    """
    import json

    from agentbench_tui.engine.suite.parameters import declarations, type_of

    known = declarations(loaded.suite)
    for benchmark in loaded.suite.benchmarks:
        own = declarations(loaded.suite, benchmark)
        known |= {f"{benchmark.benchmark_id}.{name}": one for name, one in own.items()}
    texts = []
    for name, value in given.parameters.items():
        declared = known.get(name)
        # A name with `=` would bypass this check with another value: `--set` splits there.
        if declared is None or "=" in name:
            raise UsageError(
                f"parameter {name}: {loaded.suite.suite_id} declares no such parameter"
                f"{did_you_mean(name, known)}"
            )
        if value not in (declared.choices or ()):
            kind = type_of(declared)
            if isinstance(value, str) or kind not in {"integer", "number", "boolean"}:
                raise Forbidden(
                    f"parameter {name}: through the API, only numbers, true or false, and declared"
                    " choices can be set; anything else is set in the suite"
                )
        texts.append(f"{name}={value if isinstance(value, str) else json.dumps(value)}")
    return tuple(texts)


if __name__ == "__main__":
    main()
