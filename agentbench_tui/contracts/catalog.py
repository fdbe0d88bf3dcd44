"""All documents by the name in their `schema` field, and the JSON Schema of each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.contracts.document import Document, Json, schema_of
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "agentbench."
_PLACES: Mapping[str, tuple[str, ...]] = {
    "agent-matrix/1": ("leaderboard.AgentMatrixDocument",),
    "agents/1": ("listings.AgentsDocument",),
    "answers/1": ("runs.AnswersDocument",),
    "baselines/1": ("listings.BaselinesDocument",),
    "breakdown/1": ("breakdown.BreakdownDocument",),
    "case/1": ("runs.CaseDocument",),
    "compare/1": (
        "compare.CompareDocument",
        "compare.CompareMatrixDocument",
        "training.CompareTrainingDocument",
    ),
    "cost/1": ("cost.CostDocument",),
    "doctor/1": ("listings.DoctorDocument",),
    "effects/1": ("experiments.EffectsDocument",),
    "experiment/1": ("experiments.ExperimentDocument",),
    "experiments/1": ("experiments.ExperimentsDocument",),
    "explanation/1": ("listings.ExplanationDocument", "listings.ExplanationsDocument"),
    "gates/1": ("run.GatesDocument",),
    "health/1": ("service.HealthDocument",),
    "history/1": ("history.HistoryDocument",),
    "imported/1": ("service.ImportedDocument",),
    "judge-check/1": ("judge.JudgeCheckDocument",),
    "leaderboard/1": ("leaderboard.LeaderboardDocument",),
    "load/1": ("load.LoadDocument",),
    "load-rate/1": ("load.LoadRateDocument",),
    "load-sweep/1": ("load.LoadSweepDocument",),
    "market/1": ("market.MarketDocument",),
    "market-verified/1": ("market.VerifiedDocument",),
    "market-world/1": ("market.MarketWorldDocument",),
    "plan/1": ("plan.PlanDocument", "plan.LoadPlanDocument", "plan.StressPlanDocument"),
    "profile/1": ("profile.ProfileDocument",),
    "profiles/1": ("profile.ProfilesDocument",),
    "regressions/1": ("regressions.RegressionsDocument",),
    "rerun-plan/1": ("plan.RerunPlanDocument",),
    "results/1": ("service.ResultsDocument",),
    "run/1": ("run.RunDocument",),
    "run-details/1": ("runs.RunDetailsDocument",),
    "runs/1": ("runs.RunsDocument",),
    "schemas/1": ("listings.SchemasDocument",),
    "started-run/1": ("service.StartedRunDocument",),
    "stats-check/1": ("stats.StatsCheckDocument",),
    "stats-power/1": ("stats.StatsPowerDocument",),
    "stats-summary/1": ("stats.StatsSummaryDocument",),
    "stats-variance/1": ("stats.StatsVarianceDocument",),
    "stop/1": ("service.StopDocument",),
    "stress/1": ("stress.StressDocument", "stress.StressAgentsDocument"),
    "suite/1": ("listings.SuiteDocument",),
    "suites/1": ("listings.SuitesDocument",),
    "version/1": ("service.VersionDocument",),
}
"""Name → classes; a name has several where what is printed depends on what was asked."""


def schema_names() -> list[str]:
    """Return the names of all documents, such as `agentbench.run/1`."""
    return sorted(PREFIX + name for name in _PLACES)


def document_classes(name: str) -> tuple[type[Document], ...]:
    """Return the classes of a document by its name, with or without `agentbench.` or the number.

    Raises UsageError with the nearest name for an unknown one.
    """
    short = name.removeprefix(PREFIX)
    if "/" not in short:
        short = max((one for one in _PLACES if one.partition("/")[0] == short), default=short)
    if short not in _PLACES:
        known = [one.partition("/")[0] for one in _PLACES]
        raise UsageError(
            f"no document '{name}'{did_you_mean(name, known)}; `agentbench schema` lists them"
        )
    return tuple(map(_class_at, _PLACES[short]))


def _class_at(place: str) -> type[Document]:
    module, _, name = place.partition(".")
    found: type[Document] = getattr(import_module(f"agentbench_tui.contracts.{module}"), name)
    return found


def json_schema(name: str) -> dict[str, Json]:
    """Return the JSON Schema (draft 2020-12) of a document. Raises UsageError for no such name."""
    classes = document_classes(name)
    shapes, parts = msgspec.json.schema_components(classes, ref_template="#/$defs/{name}")
    title = schema_of(classes[0])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    body = shapes[0] if len(shapes) == 1 else {"anyOf": list(shapes)}
    return {**head, **body, "$defs": parts}


def decode_document(text: bytes | str) -> Document:
    """Return a printed document as its class, by its `schema` field.

    Raises UsageError for what is no document of agentbench, `msgspec.ValidationError` for one that
    lacks fields, has unknown ones, or ones of another type.
    """
    try:
        head = msgspec.json.decode(text, type=_Head)
    except msgspec.MsgspecError:
        raise UsageError("not a document of agentbench: a JSON object with a schema") from None
    *others, last = document_classes(head.schema)
    for one in others:
        try:
            return msgspec.json.decode(text, type=one)
        except msgspec.ValidationError:
            continue
    return msgspec.json.decode(text, type=last)


class _Head(msgspec.Struct):
    schema: str
