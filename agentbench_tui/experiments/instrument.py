"""Instruments around an iteration: context managers that write into its context.

    @contextmanager
    def descriptors(context, **options):
        before = len(os.listdir("/proc/self/fd"))
        yield
        context["descriptors"] = {"left_open": len(os.listdir("/proc/self/fd")) - before}

`perf` is built in; others are `python:module:function` or `python:file.py:function`, or come from
entry points of the group `agentbench.instruments`. They run outside the timer: their time is not
part of the measured times, and is reported with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from agentbench_tui.experiments.experiment import ExperimentContext
from agentbench_tui.experiments.measuring.order import Instrument
from agentbench_tui.experiments.measuring.profiler_passes import PASSES
from agentbench_tui.instruments.perf_counters import perf
from agentbench_tui.instruments.registry import ENTRY_POINTS, PYTHON
from agentbench_tui.model.errors import UsageError

ALWAYS = frozenset({"timing", "psutil", "gpu"})
"""Instruments that the harness always runs, in a separate thread."""

Around = Callable[[ExperimentContext], AbstractContextManager[Any]]


def instruments_of(specs: Iterable[str | Mapping[str, Any]]) -> list[Instrument]:
    """Return the distinct entries of a suite's `instruments`."""
    found: dict[str, Instrument] = {}
    for spec in specs:
        name, options = (spec, {}) if isinstance(spec, str) else next(iter(spec.items()))
        found[name] = Instrument(name, dict(options or {}))
    return list(found.values())


def around(instruments: Iterable[Instrument]) -> tuple[Instrument, ...]:
    """Return the instruments that wrap every measured iteration."""
    return tuple(one for one in instruments if one.name not in ALWAYS and one.name not in PASSES)


def passes(instruments: Iterable[Instrument]) -> tuple[Instrument, ...]:
    """Return the instruments with a separate pass."""
    return tuple(one for one in instruments if one.name in PASSES)


def find_around(instrument: Instrument, folder: Path) -> Around:
    """Return the context manager of an instrument, with its options.

    The file of a `python:` instrument is relative to `folder`. Raises UsageError.
    """
    if instrument.name == "perf":
        return perf
    if instrument.name.startswith(PYTHON):
        from agentbench_tui.scoring.custom import load_callable

        function = load_callable(instrument.name.removeprefix(PYTHON), folder)
        return partial(function, **instrument.options)
    for point in metadata.entry_points(group=ENTRY_POINTS, name=instrument.name):
        try:
            found = point.load()
        except Exception as error:
            raise UsageError(f"instrument {instrument.name} cannot be loaded: {error!r}") from error
        return partial(found, **instrument.options)
    raise UsageError(f"there is no instrument `{instrument.name}`")


class Written:
    """Separates the instruments' values in the context from the experiment's."""

    def __init__(self, context: ExperimentContext) -> None:
        self._context = context
        self._found: dict[str, Any] = {}
        self._before: dict[str, Any] | None = dict(context)

    def entered(self) -> None:
        """Mark that all instruments have begun."""
        self._collect()
        self._before = None

    def called(self) -> None:
        """Mark that the experiment is done; later values belong to instruments again."""
        self._before = dict(self._context)

    def taken(self) -> dict[str, Any]:
        """Return their values, and remove them from the context, so that iterations stay equal."""
        self._collect()
        for name in self._found:
            self._context.pop(name, None)
        return self._found

    def _collect(self) -> None:
        before = self._before
        if before is None:
            return
        self._found |= {
            name: value
            for name, value in self._context.items()
            if name not in before or before[name] is not value
        }
