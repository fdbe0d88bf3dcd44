"""Chooses the data file of a folder for a suite: of several splits, the test split."""

from __future__ import annotations

import re
from pathlib import Path

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import counted

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_SPLITS = ("test", "validation", "valid", "val", "dev", "eval", "", "train")
"""The first of these that a folder holds is taken; "" is a file whose name says no split."""
_SPLIT = re.compile(r"(?:^|[-_./])(test|validation|valid|val|dev|eval|train)(?=[-_./]|$)")
_DESCRIPTIONS = frozenset(
    {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "config.json"}
)
"""Description files that datasets keep next to their data."""
_DEEPEST = 4
_MOST_FILES = 10_000


def data_file(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the file to read for a path, and notes on the other content of a folder.

    Raises UsageError for a path that is not there, and for a folder without a data file.
    """
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        return path, ()
    files = _files(path)
    if not files:
        raise UsageError(f"{path}: {_why_none(path)}")
    splits: dict[str, list[Path]] = {}
    for file in files:
        splits.setdefault(_split_of(file.relative_to(path)), []).append(file)
    split = next(name for name in _SPLITS if name in splits)
    chosen, *others = splits[split]
    notes = []
    if others:
        listed = ", ".join(str(file.relative_to(path)) for file in others[:3])
        more = ", …" if len(others) > 3 else ""
        notes.append(f"{counted(len(others), 'other file')} next to it not used: {listed}{more}")
    if rest := [name or "without a name" for name in _SPLITS if name in splits and name != split]:
        notes.append(f"other splits in the folder: {', '.join(rest)}")
    return chosen, tuple(notes)


def _files(folder: Path) -> list[Path]:
    """Return data files up to some levels down, in order, without hidden and metadata files."""
    found: list[Path] = []
    folders = [folder]
    while folders and len(found) < _MOST_FILES:
        for path in sorted(folders.pop(0).iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir():
                if len(path.relative_to(folder).parts) < _DEEPEST:
                    folders.append(path)
            elif _suffix(path) in _SUFFIXES and path.name not in _DESCRIPTIONS:
                found.append(path)
    return found


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _split_of(path: Path) -> str:
    match = _SPLIT.search(str(path).lower())
    return match[1] if match else ""


def _why_none(folder: Path) -> str:
    if any(folder.rglob("*.arrow")):
        return (
            "Arrow files are not read; write one file with "
            f"`datasets.load_from_disk({str(folder)!r})['test'].to_json('test.jsonl')` in Python"
        )
    return f"the folder holds no data file ({', '.join(_SUFFIXES)})"
