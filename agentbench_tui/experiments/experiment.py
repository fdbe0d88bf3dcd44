"""The base class of experiments: a set-up, one measured step and a tear-down.

    @register_experiment("sorting")
    class Sorting(Experiment):
        class Parameters(BaseModel):
            size: int = 1000

        def setup(self, context):
            self.data = random.Random(context.seed).sample(range(10**6), self.params["size"])

        def execute_once(self, context):
            return {"items": len(sorted(self.data))}

Only `execute_once` is timed. Each of the methods may be `async def`; all that one variant does
happens in one thread with one event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from agentbench_tui.experiments.measuring.parameter_reads import GIVEN, RecordedReads, asked_for
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import is_name

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agentbench_tui.model.agent import AgentSpec

REGISTERED: dict[str, type[Experiment]] = {}
"""By slug: classes whose decorator has run."""


class ExperimentContext(dict[str, Any]):
    """Context of an experiment and its instruments, readable as attributes and as items.

    Values that instruments write into it around a measured iteration are stored with that
    iteration.
    """

    run_id: str
    output_dir: Path
    """Folder of the whole run; exists."""
    run_dir: Path
    """Folder of this variant in this repeat, for artifacts; exists."""
    seed: int
    """Seed of the repeat; the same for all variants, and in every rerun."""
    repeat: int
    iteration_index: int | None
    """From 0 within the repeat; None in set-up, warm-up, tear-down and passes of profilers."""
    loops: int
    """Calls in a measured iteration."""
    variant: str
    """Name of the variant, or id of the agent."""
    agent: AgentSpec | None
    """The agent under test, if the run has one."""
    instruments: list[str]
    """Names of those around every measured iteration."""
    extras: dict[str, Any]
    """Free for the experiment's own use."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the context has no `{name}`") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Experiment:
    """Base of all experiments."""

    Parameters: ClassVar[type[BaseModel] | None] = None
    """The model of its parameters, with defaults; anything else is refused before it runs."""
    param_schema: ClassVar[Mapping[str, Any]] = {}
    """The same as JSON schema (`required`, `properties`), without a model."""
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Name → parameters: variants that are measured interleaved by default."""
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {}
    """Name of a returned metric → its better direction, if known."""
    asks_agent: ClassVar[bool] = True
    """Whether it calls the agent of a run.

    If not, its variants are measured in such a run too, so that its times never appear under an
    agent's name.
    """
    tags: ClassVar[tuple[str, ...]] = ()
    slug: ClassVar[str] = ""
    """Given by `register_experiment`."""

    params: dict[str, Any]
    """By name. A run's values are validated, and defaults are filled in, before."""

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        is_noted = isinstance(parameters, RecordedReads)
        given: Any = parameters if is_noted else RecordedReads(parameters or {})
        vars(self)[GIVEN] = given
        if not has_lazy_params(type(self)):
            self.params = given

    if not TYPE_CHECKING:  # for a checker every name would be one

        def __getattr__(self, name: str) -> Any:
            """Create `params` at the first access, so that unused parameters are detected."""
            if name != "params" or GIVEN not in vars(self):
                raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")
            self.params = vars(self)[GIVEN]
            return self.params

    def setup(self, context: ExperimentContext) -> Awaitable[None] | None:
        """Prepare once before all iterations of a repeat; not timed."""

    def before_each(self, context: ExperimentContext) -> Awaitable[None] | None:
        """Prepare each iteration and each warm-up call; not timed. With it, calls never run in a
        loop.
        """

    def execute_once(
        self, context: ExperimentContext
    ) -> Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None:
        """Run one timed iteration.

        Returns metrics by name. An exception fails only this iteration.
        """
        raise NotImplementedError

    def teardown(self, context: ExperimentContext) -> Awaitable[None] | None:
        """Called once at the end, also after a partial set-up."""

    def effective(self, context: ExperimentContext) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the settings in force after set-up, read back from what is measured (a PRAGMA's
        value, an open file's path). Two variants with equal results are not measured.
        """
        return asked_for(self)


def has_lazy_params(cls: type[Experiment]) -> bool:
    """Return whether `params` comes from `__getattr__`: the class does not define it."""
    derived = [vars(one).keys() for one in cls.__mro__ if one is not Experiment]
    return not any({"params", "__getattr__"} & names for names in derived)


E = TypeVar("E", bound=type[Experiment])


def register_experiment(slug: str) -> Callable[[E], E]:
    """Class decorator: register the experiment under `slug`.

    Raises UsageError for a slug that is taken or is no name, and for what is no Experiment.
    """
    if not is_name(slug):
        raise UsageError(f"an experiment cannot be called `{slug}`: letters, digits, `.`, `_`, `-`")

    def register(cls: E) -> E:
        given: object = cls
        if not (isinstance(given, type) and issubclass(given, Experiment)):
            raise UsageError(f"{slug}: {cls!r} is not a class derived from Experiment")
        known = REGISTERED.get(slug)
        # A module that is loaded again by its path brings the same class once more.
        if known is not None and _place(known) != _place(cls):
            raise UsageError(f"two experiments are called `{slug}`: {_place(known)}, {_place(cls)}")
        cls.slug = slug
        REGISTERED[slug] = cls
        return cls

    return register


def _place(cls: type[Experiment]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
