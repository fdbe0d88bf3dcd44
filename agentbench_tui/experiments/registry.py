"""Experiments by name: included ones, those of entry points, and `python:module:Class`.

Included ones are all modules below the packages in `OWN`; a plugin names its class by an entry
point of the group `agentbench.experiments`.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from agentbench_tui.experiments.declared import directed
from agentbench_tui.experiments.decorator import Measured
from agentbench_tui.experiments.experiment import REGISTERED, Experiment
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import declare_metric

ENTRY_POINTS = "agentbench.experiments"
OWN = ("farm", "spatial", "stores", "stateset", "self", "commands")
"""Packages next to this module whose modules register experiments."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One experiment in a list."""

    slug: str
    summary: str
    """First line of its docstring; if it cannot be loaded, the reason."""
    tags: tuple[str, ...]
    source: str
    """`built in`, or the distribution that brings it."""


def find_experiment(slug: str, folder: Path | None = None) -> type[Experiment]:
    """Return the class of a slug. `python:module:Class` is imported, with `folder` on the path. Its
    declared metrics are registered.

    Raises UsageError with the nearest name.
    """
    cls = _found(slug, folder)
    for metric in directed(cls.better).values():
        declare_metric(metric)
    return cls


def is_own(slug: str) -> bool:
    """Return whether an experiment of that name is included in agentbench."""
    _import_own()
    cls = REGISTERED.get(slug)
    return cls is not None and cls.__module__.startswith(f"{__package__}.")


def _found(slug: str, folder: Path | None) -> type[Experiment]:
    scheme, colon, rest = slug.partition(":")
    if colon:
        if scheme != "python":
            raise UsageError(f"experiment `{slug}`: a name, or python:module:Class")
        return _imported(slug, rest, folder)
    if slug in REGISTERED:
        return REGISTERED[slug]
    broken = _import_own()  # before those of others, so that none takes the place of ours
    if slug in REGISTERED:
        return REGISTERED[slug]
    for point in metadata.entry_points(group=ENTRY_POINTS, name=slug):
        return _loaded(point)
    known = sorted({*REGISTERED, *metadata.entry_points(group=ENTRY_POINTS).names})
    hint = did_you_mean(slug, known) or "; `agentbench experiments list` names them"
    raise UsageError(f"no experiment is called `{slug}`{hint}{''.join(broken)}")


def list_experiments() -> list[Listed]:
    """Return every available experiment, by slug."""
    _import_own()
    own = {slug for slug, cls in REGISTERED.items() if cls.__module__.startswith(__package__)}
    found = {}
    for point in metadata.entry_points(group=ENTRY_POINTS):
        if point.name in own:
            continue
        source = point.dist.name if point.dist else point.value
        try:
            found[point.name] = _listed(point.name, _loaded(point), source)
        except UsageError as error:
            found[point.name] = Listed(point.name, str(error), (), source)
    for slug, cls in REGISTERED.items():
        source = "built in" if slug in own else cls.__module__
        found.setdefault(slug, _listed(slug, cls, source))
    return [found[slug] for slug in sorted(found)]


def _listed(slug: str, cls: type[Experiment], source: str) -> Listed:
    text = (cls.__doc__ or "").strip() or "–"
    return Listed(slug, text.splitlines()[0], tuple(cls.tags), source)


@cache
def _import_own() -> list[str]:
    """Import every included module; return those that fail, and why.

    The others are still available.
    """
    broken = []
    for name in OWN:
        package = importlib.import_module(f"{__package__}.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                importlib.import_module(module.name)
            except Exception as error:  # noqa: BLE001  # whatever a library raises when it loads
                broken.append(f"; {module.name} cannot be imported: {error!r}")
    return broken


def _loaded(point: metadata.EntryPoint) -> type[Experiment]:
    try:
        cls = point.load()
    except Exception as error:
        raise UsageError(
            f"experiment `{point.name}` of {point.value} cannot be loaded: {error!r}"
        ) from error
    return _checked(point.name, cls, point.value)


def _imported(slug: str, rest: str, folder: Path | None) -> type[Experiment]:
    from agentbench_tui.scoring.custom import load_callable

    return _checked(slug, load_callable(rest, folder or Path.cwd()), rest)


def _checked(slug: str, cls: object, where: str) -> type[Experiment]:
    if isinstance(cls, Measured):
        raise UsageError(
            f"experiment `{slug}`: {where} is a function of @benchmark, which is measured by"
            f" `{cls.func.__name__}.run()`"
        )
    if not (isinstance(cls, type) and issubclass(cls, Experiment)):
        raise UsageError(f"experiment `{slug}`: {where} is not a class derived from Experiment")
    if not cls.slug:
        cls.slug = slug
    return cls
