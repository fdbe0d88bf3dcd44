"""Whether variants differ in what is in force, rather than in what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentbench_tui.model.identity import canonical_json

_SHOWN = 4
_LONGEST = 40


def equal_variants(effective: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Variant → why it is not measured, for each whose settings are those of another.

    `effective` has the settings of each variant, read back after its set-up.
    """
    alike: dict[bytes, list[str]] = {}
    for name, settings in effective.items():
        alike.setdefault(canonical_json(settings), []).append(name)
    return {
        name: _words(names, effective[name])
        for names in alike.values()
        if len(names) > 1
        for name in names
    }


def _words(names: list[str], settings: Mapping[str, Any]) -> str:
    listed = ", ".join(names[:-1]) + f" and {names[-1]}"
    shown = [f"{key}={str(value)[:_LONGEST]}" for key, value in [*settings.items()][:_SHOWN]]
    more = ", …" if len(settings) > _SHOWN else ""
    what = f" ({', '.join(shown)}{more})" if shown else ""
    return f"variants {listed} are effectively equal{what}: what they change does not take effect"
