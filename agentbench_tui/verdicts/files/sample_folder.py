"""A folder of sample files as one side; each file is a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.file_field import NO_FIELD, FileField
from agentbench_tui.verdicts.files.row_choice import NO_FILTER, RowFilter
from agentbench_tui.verdicts.files.sample_file import SampleFile, read_sample_file

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers

SUFFIXES = (".csv", ".jsonl", ".ndjson", ".json", ".tsv")
MOST_FILES = 1_000


def read_samples(
    path: Path,
    numbers: CaseNumbers,
    chosen: Sequence[Metric] = (),
    where: RowFilter = NO_FILTER,
    attempt: str = "",
    by: FileField = NO_FIELD,
) -> SampleFile:
    """Read a file, or all sample files of a folder together; see `read_sample_file`.

    The repeats of each file are counted as repeats of their own, and belong to its run, or to the
    runs that it names.
    """
    if not path.is_dir():
        return read_sample_file(path, numbers, chosen, where, attempt, by)
    files = [
        read_sample_file(one, numbers, chosen, where, attempt, by) for one in sample_files(path)
    ]
    names = dict.fromkeys(name for file in files for name in file.benchmarks)
    return SampleFile(
        path,
        {
            name: _together([file.benchmarks[name] for file in files if name in file.benchmarks])
            for name in names
        },
        all(file.seeded for file in files),
        tuple(note for file in files for note in file.notes),
    )


def sample_files(path: Path) -> list[Path]:
    """Return the file itself, or the sample files of a folder without subfolders.

    Raises UsageError for a folder without any, and one with more than `MOST_FILES`.
    """
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if _is_sample_file(one))
    if not found:
        raise UsageError(f"{path}: no file with samples in it ({', '.join(SUFFIXES)})")
    if len(found) > MOST_FILES:
        raise UsageError(f"{path}: holds {len(found):,} files, more than {MOST_FILES:,}")
    return found


def _is_sample_file(path: Path) -> bool:
    name = path.name.removesuffix(".gz")
    return path.is_file() and not name.startswith(".") and name.endswith(SUFFIXES)


def _together(parts: Sequence[TaskEvidence]) -> TaskEvidence:
    """Combine the observations of several files, numbering repeats and runs consecutively."""
    repeats, runs, first, first_run = [], [], 0, 0
    for part in parts:
        repeats.append(part.repeat + first)
        first += part.repeats
        run_of = np.zeros(part.repeats, np.int64) if part.run_of is None else part.run_of
        runs.append(run_of + first_run)
        first_run += int(run_of.max()) + 1
    names = dict.fromkeys(name for part in parts for name in part.values)
    return TaskEvidence(
        [],
        np.concatenate([part.case for part in parts]),
        np.concatenate([part.cluster for part in parts]),
        np.concatenate([part.seed for part in parts]),
        np.concatenate(repeats),
        {
            name: np.concatenate(
                [part.values.get(name, np.full(len(part.case), math.nan)) for part in parts]
            )
            for name in names
        },
        first,
        names_cases=all(part.names_cases for part in parts),
        tells_failures=any(part.tells_failures for part in parts),
        run_of=np.concatenate(runs),
    )
