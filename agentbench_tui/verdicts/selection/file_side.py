"""Matches the benchmarks of files in a comparison with those of the other sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.verdicts.evidence.place import Place
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

if TYPE_CHECKING:
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.files.sample_file import SampleFile

SUITE = "file"
"""Placeholder for the suite if only files are compared."""


def placed_files(
    files: Sequence[SampleFile], measured: Sequence[Place], benchmark: str | None
) -> list[dict[Place, Evidence]]:
    """Return the evidence of each file by place: one of those `measured`, by the benchmark's id.

    A file that names no benchmark belongs to the only one, or to the requested `benchmark`. Raises
    UsageError if that is ambiguous.
    """
    named = sorted({name for file in files for name in file.benchmarks if name})
    known = dict.fromkeys([place.benchmark_id for place in measured] or named)
    return [_placed(file, measured, list(known), benchmark) for file in files]


def _placed(
    file: SampleFile, measured: Sequence[Place], known: Sequence[str], benchmark: str | None
) -> dict[Place, Evidence]:
    found: dict[Place, Evidence] = {}
    for name, evidence in file.benchmarks.items():
        of = name or _only(file, known, benchmark)
        if benchmark is not None and of != benchmark:
            continue
        at = [place for place in measured if place.benchmark_id == of]
        if len(at) > 1:
            points = ", ".join(map(str, at[:3]))
            raise UsageError(
                f"{file.path}: '{of}' was measured at several points ({points}): choose one with "
                "AGENT?NAME=VALUE"
            )
        found[at[0] if at else Place(SUITE, of)] = evidence
    if not found:
        names = list(file.benchmarks)
        near = did_you_mean(benchmark or "", names)
        raise UsageError(f"{file.path}: nothing of benchmark '{benchmark}' in it{near}")
    return found


def _only(file: SampleFile, known: Sequence[str], benchmark: str | None) -> str:
    if benchmark is not None:
        return benchmark
    if len(known) > 1:
        raise UsageError(
            f"{file.path}: names no benchmark, and the others have {len(known)} "
            f"({', '.join(known[:4])}): say which it is of with --benchmark"
        )
    return known[0] if known else "samples"


def without_seeds(placed: Mapping[Place, Evidence]) -> dict[Place, Evidence]:
    """Return the evidence without seeds, for pairing with a side that has none."""
    return {
        place: replace(evidence, seed=np.zeros_like(evidence.seed))
        if isinstance(evidence, TaskEvidence)
        else evidence
        for place, evidence in placed.items()
    }
