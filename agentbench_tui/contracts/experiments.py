"""Experiments: the list, one of them, and the effects of swept parameters."""

from __future__ import annotations

from agentbench_tui.contracts.document import Document, Json, Part


class ListedExperiment(Part, frozen=True, kw_only=True):
    """One experiment of the list."""

    slug: str
    summary: str
    tags: tuple[str, ...]
    source: str
    """`built in`, or the package that provides it."""


class ExperimentsDocument(Document, frozen=True, kw_only=True, tag="agentbench.experiments/1"):
    """What `agentbench experiments list` prints."""

    experiments: tuple[ListedExperiment, ...]


class ExperimentParameter(Part, frozen=True, kw_only=True):
    """One parameter of an experiment."""

    name: str
    type: str
    required: bool
    default: Json
    """None where it is required."""
    description: str


class ExperimentDocument(Document, frozen=True, kw_only=True, tag="agentbench.experiment/1"):
    """What `agentbench experiments show` prints."""

    slug: str
    description: str
    tags: tuple[str, ...]
    parameters: tuple[ExperimentParameter, ...]
    variants: dict[str, dict[str, Json]]


class EffectOfLevel(Part, frozen=True, kw_only=True):
    """One level of a parameter against its first level."""

    parameter: str
    level: str
    points: int
    mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    relative: float | None
    """Difference as a share of the first level's mean."""
    least: float | None
    most: float | None
    reason: str


class MetricEffects(Part, frozen=True, kw_only=True):
    """The effects of all parameters on one metric."""

    benchmark_id: str
    metric: str
    unit: str
    points: int
    missing: int
    """Parameter points without a value."""
    of: str
    """What the values are: `iterations` or `repeats`."""
    levels: tuple[EffectOfLevel, ...]


class EffectsDocument(Document, frozen=True, kw_only=True, tag="agentbench.effects/1"):
    """What `agentbench experiments effects` prints."""

    run_id: str
    level: float
    """Confidence level."""
    effects: tuple[MetricEffects, ...]
