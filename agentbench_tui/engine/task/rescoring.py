"""Scores stored answers again with new scorers or rubrics, without calling an agent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.engine.run.finish import (
    baseline_first,
    findings_of,
    rank_executions,
    write_findings,
)
from agentbench_tui.engine.run.plan import decode_plan
from agentbench_tui.engine.run.plan_secrets import declare_secrets_of
from agentbench_tui.engine.task.grading import make_scoring
from agentbench_tui.engine.task.recorder import Recorder, encode_figures
from agentbench_tui.model.answer import NOT_GRADED, UNMEASURED, Answer, Case, FailureKind, Message
from agentbench_tui.model.clock import bind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.kind_sections import read_suite
from agentbench_tui.model.suite import Suite
from agentbench_tui.process.supervision import end_forks_of
from agentbench_tui.scoring.answer_metric import with_definitions
from agentbench_tui.store.draft import Draft
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.queries.answers import answers_to_grade, messages_of
from agentbench_tui.store.queries.runs import execution_key_of
from agentbench_tui.store.run_copy import IMPORTED_IN_PART
from agentbench_tui.store.writes.observations import (
    NewGrade,
    change_figures_of_failures,
    change_grade,
    remove_scoring_failures,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.engine.task.grading import Scoring
    from agentbench_tui.model.suite import Benchmark
    from agentbench_tui.store.queries.runs import Row

PAGE = 200


@dataclass(frozen=True, slots=True)
class Rescored:
    """What rescoring changed."""

    answers: int
    """Answers scored again."""
    changed: int
    """Answers that were right and are wrong now, or the other way round."""


async def rescore(
    database: Path,
    run: dict[str, Any],
    suite: LoadedSuite | None = None,
    settings: Sequence[str] = (),
) -> Rescored:
    """Score every stored answer of a run again, and aggregate anew.

    `suite` brings other scorers, rubrics and weights for benchmarks of the same id; without it
    the run's own are applied. What was set or swept for the run holds for it too, unless
    `settings` (`KEY=VALUE`) say otherwise. Failures of the agent stay; failures of kind `grader`
    get another chance. All of it is committed at once: a process that is stopped or killed before
    leaves the scores as they were. Raises UsageError while the run goes on.
    """
    if run["error"] == IMPORTED_IN_PART:
        raise UsageError(f"run {run['id']} was {IMPORTED_IN_PART}")
    bind(asyncio.get_running_loop())
    end_forks_of(asyncio.get_running_loop())
    lease = Lease.take(database, run["id"])
    if lease is None:
        raise UsageError(f"run {run['id']} is still running; wait until it ends")
    try:
        return await _rescore_run(database, run, suite, settings)
    finally:
        lease.release()


async def _rescore_run(
    database: Path, run: dict[str, Any], suite: LoadedSuite | None, settings: Sequence[str]
) -> Rescored:
    """Score in a draft, aggregate it, and commit everything at once."""
    plan = decode_plan(run["plan"])
    declare_secrets_of(plan)
    documents = {one.hash: one.document for one in plan.suites}
    finished: list[Callable[[sqlite3.Connection], None]] = []
    total = changed = 0
    with Draft(database, run["key"], ("answers", "failures")) as draft:
        for group in plan.groups:
            own = read_suite(msgspec.json.encode(documents[group.suite_hash]))
            if suite is None:
                benchmark, chosen = group.resolved(), own
            else:
                benchmark, chosen = _new_rules(group, own, suite, settings)
            scoring = make_scoring(benchmark, group.base_dir if suite is None else suite.folder)
            try:
                for execution in baseline_first(group.executions, chosen.baseline):
                    key = execution_key_of(draft.connection, execution.id)
                    done = await _rescore_execution(draft, run["key"], key, scoring)
                    total, changed = total + done.answers, changed + done.changed
                    found = await asyncio.to_thread(findings_of, draft.connection, key, benchmark)
                    finished.append(
                        partial(
                            write_findings,
                            execution_key=key,
                            found=found,
                            benchmark=benchmark,
                            suite=chosen,
                        )
                    )
            finally:
                await scoring.close()

        def finish(connection: sqlite3.Connection) -> None:
            for write in finished:
                write(connection)
            rank_executions(connection, run["key"])

        await asyncio.to_thread(draft.commit, finish)
    return Rescored(total, changed)


def _new_rules(
    group: Group, own: Suite, new: LoadedSuite, settings: Sequence[str]
) -> tuple[Benchmark, Suite]:
    """The benchmark and suite to score by, at the parameters of the run.

    A value that nobody set or swept was the old suite's default: there the new one's holds.
    """
    wanted = group.benchmark["benchmark_id"]
    ids = [one.benchmark_id for one in new.suite.benchmarks]
    if wanted not in ids:
        raise UsageError(
            f"suite {new.suite.suite_id} has no benchmark '{wanted}', which the run has"
        )
    defaults = {name: declared.default for name, declared in own.parameters.items()}
    (before,) = (one for one in own.benchmarks if one.benchmark_id == wanted)
    given = new.settings(settings, _changed(group.values, defaults))
    point = _changed(group.parameters, before.parameters)
    benchmark = new.benchmark(ids.index(wanted), given, point)
    metrics = with_definitions(benchmark.metrics, new.folder)
    return benchmark.model_copy(update={"metrics": metrics}), new.resolve(given)


def _changed(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if name not in defaults or value != defaults[name]
    }


async def _rescore_execution(
    draft: Draft, run_key: int, execution_key: int, scoring: Scoring
) -> Rescored:
    total = changed = last = 0
    recorder = Recorder(draft, run_key, execution_key)
    # What scorers failed at before is judged anew.
    remove_scoring_failures(draft, execution_key)
    change_figures_of_failures(
        draft, execution_key, encode_figures(scoring.of_failure()), UNMEASURED
    )
    while True:
        rows = answers_to_grade(draft.connection, execution_key, last, PAGE)
        if not rows:
            return Rescored(total, changed)
        last = rows[-1]["seq"]
        for row in rows:
            answer = _whole_answer(draft.connection, row)
            changed += await _rescore_row(draft, recorder, row, answer, scoring)
            total += 1


async def _rescore_row(
    draft: Draft,
    recorder: Recorder,
    row: Row,
    answer: Answer,
    scoring: Scoring,
) -> bool:
    case = msgspec.json.decode(row["body"], type=Case)
    key = (row["case_key"], row["repeat"], row["iteration"])

    def failed(detail: str) -> None:
        recorder.failure("score", FailureKind.GRADER, detail, key)

    graded = await scoring.grade(case, answer, failed)
    failure = FailureKind.GRADER if graded is None else None
    graded = graded or NOT_GRADED
    change_grade(
        draft,
        NewGrade(
            graded.credit,
            graded.correct,
            recorder.encode_scores(graded.scores) if graded.scores else None,
            encode_figures(graded.figures),
            failure,
            row["seq"],
            row["run_key"],
        ),
    )
    return bool(row["correct"]) != bool(graded.correct)


def _whole_answer(connection: sqlite3.Connection, row: Row) -> Answer:
    """Return the answer with its messages, which are separate rows."""
    answer = msgspec.json.decode(row["answer"], type=Answer)
    messages = messages_of(
        connection, row["execution_key"], row["case_key"], row["repeat"], row["iteration"]
    )
    if not messages:
        return answer
    return msgspec.structs.replace(
        answer,
        messages=tuple(
            msgspec.convert(
                {
                    "role": message["role"],
                    "content": message["content"],
                    "tool_calls": msgspec.json.decode(message["tool_calls"] or "[]"),
                    "tool_call_id": message["tool_call_id"],
                },
                Message,
            )
            for message in messages
        ),
    )
