"""Compares the effective settings of variants rather than the requested ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.identity import canonical_json
from agentbench_tui.store.queries.experiments import settings_told

if TYPE_CHECKING:
    import sqlite3

_SHOWN = 4
_LONGEST = 40


def equal_variants(
    effective: Mapping[str, Mapping[str, Any]],
    because: Callable[[Sequence[str]], str] = lambda _: "what they change does not take effect",
) -> dict[str, str]:
    """Return variant → problem, for each with the same settings as another.

    `effective` has the settings of each variant, read back after its set-up; `because` explains
    equal variants.
    """
    alike: dict[bytes, list[str]] = {}
    for name, settings in effective.items():
        alike.setdefault(canonical_json(settings), []).append(name)
    return {
        name: f"{_words(names, effective[name])}: {because(names)}"
        for names in alike.values()
        if len(names) > 1
        for name in names
    }


def _words(names: list[str], settings: Mapping[str, Any]) -> str:
    listed = ", ".join(names[:-1]) + f" and {names[-1]}"
    shown = [f"{key}={str(value)[:_LONGEST]}" for key, value in [*settings.items()][:_SHOWN]]
    more = ", …" if len(settings) > _SHOWN else ""
    what = f" ({', '.join(shown)}{more})" if shown else ""
    return f"variants {listed} are effectively equal{what}"


def told_settings(connection: sqlite3.Connection, run_id: str) -> dict[str, dict[str, Any]]:
    """Return the settings to show in a table: `BENCHMARK VARIANT` → name → value.

    These are settings that differ from the requested ones (`backend: auto` that became a server's
    version), and other settings that distinguish variants of a benchmark.
    """
    given: dict[tuple[str, str], dict[str, Any]] = {}
    for _, benchmark_id, variant, text in settings_told(connection, run_id):
        if text is not None:
            given.setdefault((benchmark_id, variant), json.loads(text))
    found = {}
    for place, metadata in given.items():
        beside = [one["effective"] for other, one in given.items() if other[0] == place[0]]
        told = {
            name: value
            for name, value in metadata["effective"].items()
            if metadata["otherwise"].get(name, any(other.get(name) != value for other in beside))
        }
        if told:
            found[" ".join(place)] = told
    return found
