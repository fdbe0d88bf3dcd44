"""Models of a suite, as a person writes it: strict pydantic models, closed to unknown keys.

`engine.suite.loading` handles files, positions and suggestions, and converts keys of AgentFarm's
files (`experiment`, `params`, `instrumentation`, …) to this form before validation.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticKnownError

from agentbench_tui.model.bounds import (
    LARGEST_INTEGER,
    LARGEST_NUMBER,
    LARGEST_SEED,
    MOST_AT_ONCE,
    MOST_ROUNDS,
    MOST_ROWS,
)
from agentbench_tui.model.figures.dimension import DEFAULT_WEIGHTS
from agentbench_tui.model.kinds import DEFAULT, is_known, kind_named, kind_names

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Category = Literal["speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"]
TestType = Literal["synthetic", "real_world", "stress", "edge_case"]
Complexity = Literal["low", "medium", "high", "extreme"]
CHECK_KINDS = "check_kinds"
"""In the context of a validation: whether the kinds must be installed. They need not be in what is
stored, which another installation may have written."""


def _known_kind(name: str, info: ValidationInfo) -> str:
    if (info.context or {}).get(CHECK_KINDS) and not is_known(name):
        *rest, last = (f"'{one}'" for one in kind_names())
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(rest)} or {last}"})
    return name


KindName = Annotated[str, AfterValidator(_known_kind)]
Combine = Literal["all", "any", "mean", "first"]
"""How the scorers of a benchmark decide together. `all`: an answer is right if every scorer calls
it right, and its credit is the lowest one. `mean`: the same with the mean credit. `any`: right if
one scorer calls it right, with the highest credit. `first`: the first scorer decides alone."""
Dimension = Literal["accuracy", "speed", "efficiency", "cost", "reliability"]
Positive = Annotated[float, Field(gt=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False)]
Rows = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Tokens = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]
Seed = Annotated[int, Field(ge=-LARGEST_SEED, le=LARGEST_SEED)]


class Part(BaseModel):
    """Base of every part of a suite: rejects unknown keys, does not coerce values."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


class Dataset(Part):
    """Source of a task benchmark's cases, and their selection."""

    size: Rows | None = None
    """Expected number of cases; checked if given."""
    complexity: Complexity = "medium"
    data_source: str | None = None
    """`file:PATH`, `package:MODULE/PATH`, or `python:module:function`; a bare path is a file.
    Relative paths are relative to the suite's file."""
    cases: list[dict[str, Any]] | None = None
    """Inline cases, instead of `data_source`."""
    fields: dict[str, str] = Field(default_factory=dict)
    """Case field → dotted path in the record (`input: question`, `expected: truth.answer`).
    A path that holds `{name}` is a template over the record's fields."""
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """Function definitions of every case whose record has none."""
    filter: dict[str, Any] = Field(default_factory=dict)
    """Dotted path → value, or list of values, that a record must have to be taken."""
    limit: Rows | None = None
    shuffle: bool = False
    """Order the cases by the seed before `limit` is applied."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.cases is None) == (self.data_source is None):
            raise ValueError("give exactly one of `data_source` and `cases`")
        if self.cases is not None and not self.cases:
            raise ValueError("`cases` is empty")
        return self


class Constraints(Part):
    """Limits of one case. An answer over a limit is a failure of kind `timeout` or `limit`."""

    time_limit_ms: Positive | None = None
    memory_limit_mb: Positive | None = None
    token_limit: Tokens | None = None
    cost_limit_usd: Positive | None = None


class Iterations(Part):
    """How often a benchmark is repeated within one execution."""

    warmup: Annotated[int, Field(ge=0, le=MOST_ROUNDS)] = 3
    """Unmeasured rounds before the first measured iteration, each with as many cases as run
    concurrently.
    """
    measured: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] = 5
    """Measured passes over the cases."""


class EarlyStop(Part):
    """When to end an execution before its last planned iteration. By default only after repeated
    failures of the harness.
    """

    metric: Literal["accuracy", "e2e_ms.p50"] = "accuracy"
    half_width: Positive | None = None
    """Stop when the 95% interval of `metric` is within ± this, after ≥ 5 iterations or
    repeats. Absolute for accuracy, relative for the time (0.05 is 5%)."""
    hopeless_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """Stop when even the upper bound of accuracy lies below this."""
    harness_failures: Rows = 10
    """Stop after this many consecutive failures of kind `harness` or `connection`."""


class RubricEntry(Part):
    """How one metric becomes a score: 1 at `target` or better, 0 at `limit` or worse."""

    metric: str
    target: Number
    limit: Number
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.target == self.limit:
            raise ValueError("`target` and `limit` must differ")
        if self.scale == "log" and min(self.target, self.limit) <= 0:
            raise ValueError("a logarithmic scale needs `target` and `limit` above 0")
        return self


class Weights(Part):
    """Weight of each dimension in the overall score; 0 for a dimension that is not named."""

    accuracy: NotNegative = 0.0
    speed: NotNegative = 0.0
    efficiency: NotNegative = 0.0
    cost: NotNegative = 0.0
    reliability: NotNegative = 0.0

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not sum(self.model_dump().values()):
            raise ValueError("at least one weight must be above 0")
        return self


class Parameter(Part):
    """A declared parameter of a suite, used as `${name}` in its strings."""

    default: Any = None
    type: Literal["string", "integer", "number", "boolean", "path"] | None = None
    """Derived from the default when left out."""
    choices: list[Any] | None = None
    description: str = ""
    required: bool = False


def _parameter_table(value: Any) -> Any:
    """Convert a bare default value to the table that declares it."""
    return value if isinstance(value, dict | Parameter) else {"default": value}


Declaration = Annotated[
    Parameter,
    BeforeValidator(
        _parameter_table,
        json_schema_input_type=Parameter | str | int | float | bool | list[Any] | None,
    ),
]
"""A declared parameter, written as a table or as its default value alone."""


class Range(Part):
    """A range of values to sweep: `count` points from `start` to `stop`, both included;
    for random sweeps, drawn uniformly on the scale."""

    start: Number
    stop: Number
    count: Annotated[int, Field(ge=2, le=1000)] = 5
    scale: Literal["linear", "log"] = "linear"
    integer: bool = False

    @model_validator(mode="after")
    def _log_above_zero(self) -> Self:
        if self.scale == "log" and min(self.start, self.stop) <= 0:
            raise ValueError("a logarithmic range needs `start` and `stop` above 0")
        return self


class Sweep(Part):
    """Parameter points to run, each as a separate execution."""

    parameters: Annotated[
        dict[Name, Annotated[list[Any], Field(min_length=1)] | Range], Field(min_length=1)
    ]
    strategy: Literal["cartesian", "random"] = "cartesian"
    samples: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Number of distinct points of a random sweep."""

    @model_validator(mode="after")
    def _samples_for_random(self) -> Self:
        if self.strategy == "random" and self.samples is None:
            raise ValueError("a random sweep needs `samples`")
        return self


class AgentTable(Part):
    """An agent named in the suite."""

    id: Name
    target: str
    """A target string: `python:…`, `command:…`, `http:…`, `openai:URL#MODEL`, …"""
    version: Name | None = None
    """Derived from target and options by hash when left out."""
    name: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    hourly_price_usd: NotNegative | None = None
    """Hourly price of the machine or GPU that serves this agent, shared over its answers."""


class Price(Part):
    """Dollars per million tokens, overriding the price library for models that match."""

    model: str
    """Exact model name, or a pattern with `*`. `*` alone also prices answers that name no model."""
    input: NotNegative
    output: NotNegative
    cached_input: NotNegative | None = None
    """Price of input tokens read from a cache. Without it, the input price."""
    cache_write: NotNegative | None = None
    """Price of input tokens written to a cache. Without it, the input price."""
    cache_write_1h: NotNegative | None = None
    """Price of those kept in the cache for an hour. Without it, the price of `cache_write`."""
    date: str | None = None
    """When this price held, `YYYY-MM-DD`."""


class BaselineScores(Part):
    """Known scores of an agent, for comparison."""

    agent_id: str
    scores: dict[str, Number]
    benchmark_id: str | None = None
    """The benchmark they belong to; every benchmark of the suite when left out."""


class Benchmark(Part):
    """One benchmark of a suite."""

    benchmark_id: Name
    name: str = ""
    description: str = ""
    kind: KindName = DEFAULT
    test_type: TestType = "synthetic"
    metrics_measured: list[str] = Field(default_factory=list)
    dataset: Dataset | None = None
    constraints: Constraints = Field(default_factory=Constraints)
    expected_outputs: list[Any] | None = None
    """Expected outputs by position, for inline cases without their own."""
    scorers: list[str | dict[str, Any]] = Field(default_factory=list)
    """Names, or `{name: options}`, each with its own figure. `as` labels one; one with `counts:
    false` does not decide whether an answer is right."""
    combine: Combine = "all"
    """How several scorers decide together: `all`, `any`, `mean` or `first`."""
    metrics: list[str | dict[str, Any]] = Field(default_factory=list)
    """Metrics of answers beside the scorers: names, or `{name: {unit, direction, aggregate,
    options}}`, with `as` as a label."""
    scoring_rubric: dict[Dimension, RubricEntry] = Field(default_factory=dict)
    system_prompt: str | None = None
    prompt: str | None = None
    """Template of the input, with `{input}` and any field of the record."""
    parameters: dict[Name, Any] = Field(default_factory=dict)
    """Overrides of the suite's parameters; for experiments, the experiment's own."""
    game: Name | None = None
    """Game of many turns in which each case of a task is played, such as `market`; a case is one
    world of it, the answer the whole episode.
    """
    experiment: str | None = None
    """Name of the experiment, for kind `experiment`."""
    fresh_process: bool | None = None
    """Whether each repeat of an experiment runs in a separate process.

    None means no, as in older stored runs.
    """
    load: dict[str, Any] = Field(default_factory=dict)
    """Schedule and workload, for kind `load`; read by that kind."""
    stress: dict[str, Any] = Field(default_factory=dict)
    """Scenario and limits, for kind `stress`; read by that kind."""
    iterations: Iterations = Field(default_factory=Iterations)
    early_stop: EarlyStop = Field(default_factory=EarlyStop)
    seed: Seed | None = None
    sweep: Sweep | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 1
    retries: Annotated[int, Field(ge=0, le=20)] = 2
    """Further attempts after a failure that may pass (429, connection, 5xx)."""
    instruments: list[str | dict[str, Any]] = Field(default_factory=list)
    """Names, or `{name: options}`; times and gauges are taken in any case."""
    tags: list[str] = Field(default_factory=list)
    notes: str = ""

    @model_validator(mode="after")
    def _kind_has_its_parts(self) -> Self:
        for field in kind_named(self.kind).needs:
            if getattr(self, field, None) is None:
                article = "an" if self.kind[0] in "aeiou" else "a"
                raise ValueError(f"{article} {self.kind} benchmark needs `{field}`")
        return self

    def section(self, kind: str) -> dict[str, Any]:
        """Return the field of a kind from another distribution: the table of its name."""
        own: dict[str, Any] = getattr(self, kind, {})
        return own


class Suite(Part):
    """A named, versioned set of benchmarks."""

    suite_id: Name
    name: str = Field("", validation_alias=AliasChoices("name", "suite_name"))
    description: str = ""
    category: Category = "comprehensive"
    version: str = "1"
    created_at: str | None = None
    benchmarks: Annotated[list[Benchmark], Field(min_length=1)]
    agents: list[AgentTable] = Field(default_factory=list)
    """Agents to run when the command line names none."""
    parameters: dict[Name, Declaration] = Field(default_factory=dict)
    """Declared parameters: a default value, or a table."""
    weights: Weights = Field(default_factory=lambda: Weights(**DEFAULT_WEIGHTS))
    baseline_scores: list[BaselineScores] = Field(default_factory=list)
    baseline: str | None = None
    """Agent that scores are relative to, if a metric has no rubric."""
    prices: list[Price] = Field(default_factory=list)
    cost_limit_usd: Positive | None = None
    """Budget of a whole run."""
    token_limit: Tokens | None = None
    """Budget of a whole run."""
    gates: list[str] = Field(default_factory=list)
    seed: Seed = 42
    tags: list[str] = Field(default_factory=list)
    notes: str = ""
    output_dir: str | None = None
    """Folder for the document of each run, `RUN_ID.json`, relative to the current folder."""
    parallelism: Annotated[int, Field(ge=1, le=256)] = 1
    """Groups (a benchmark at a sweep point and seed) that run at once; only if speed has no
    weight.
    """
