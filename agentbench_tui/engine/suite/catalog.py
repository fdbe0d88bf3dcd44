"""Finds suites by name: in the current folder, among the included ones, and in plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from agentbench_tui.engine.suite.source import SUFFIXES
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.process_exit import ProcessExit

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Origin = Literal["folder", "shipped", "plug-in"]
GROUP = "agentbench.suites"
_FOLDER = Path("suites")


class CatalogEntry(msgspec.Struct, frozen=True):
    """A suite that can be found by name."""

    name: str
    origin: Origin
    path: Path | None
    """None when a plug-in could not be loaded."""
    fault: str = ""


def find_suite(name: str) -> Path:
    """Return the file of a suite: a path, or a name in ./suites, among the included ones, or in
    a plug-in; `GROUP/NAME` for suites in a folder. Raises UsageError if there is none.
    """
    path = Path(name).expanduser()
    if path.suffix.lower() in SUFFIXES or len(path.parts) != 1 or name in {"", "."}:
        if not path.exists() and not path.is_symlink():
            if (named := _in_group(path)) is not None:
                return named
            near = did_you_mean(path.name, _siblings(path))
            raise UsageError(f"no suite file {name}{near}; `agentbench suites list` shows suites")
        return path
    entries = suite_catalog()
    for entry in entries:
        if entry.name == name:
            if entry.path is None:
                raise UsageError(f"suite {name}: {entry.fault}")
            return entry.path
    if path.is_file():
        return path
    known = [entry.name for entry in entries]
    alone = [one for one in known if "/" not in one]
    listed = f"; known: {', '.join(alone)}" if alone else ""
    if path.suffix:  # it looks like a file: one that is misspelled, or not there
        meant = _file_meant(path) or did_you_mean(name, known)
        raise UsageError(f'no suite "{name}", and no such file{meant}{listed}')
    meant = did_you_mean(name, known) or _file_meant(path)
    raise UsageError(f'no suite "{name}"{meant}{listed}')


def suite_catalog() -> list[CatalogEntry]:
    """Return every suite that can be found by name, sorted by name.

    Of equal names the one in ./suites wins, then the shipped one. Files are not read.
    """
    entries: dict[str, CatalogEntry] = {}
    for entry in (
        *suites_in_folder(_FOLDER, "folder"),
        *suites_in_folder(shipped_folder(), "shipped"),
        *_plug_ins(),
    ):
        entries.setdefault(entry.name, entry)
    return sorted(entries.values(), key=lambda entry: entry.name)


def shipped_folder() -> Path:
    """Return `shipped_suites` inside an installed package, or `suites` next to the package in a
    checkout.
    """
    package = Path(__file__).resolve().parents[2]
    installed = package / "shipped_suites"
    return installed if installed.is_dir() else package.parent / "suites"


def suites_in_folder(folder: Path, origin: Origin) -> Iterator[CatalogEntry]:
    """Yield `NAME.yaml` (or .yml, .json, .toml), `NAME/suite.yaml`, and `GROUP/NAME` for each file
    in another folder; JSON files in that folder are data, not suites.
    """
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            yield CatalogEntry(path.stem, origin, path)
        elif path.is_dir():
            for suffix in SUFFIXES:
                if (inner := path / f"suite{suffix}").is_file():
                    yield CatalogEntry(path.name, origin, inner)
                    break
            else:
                yield from (
                    CatalogEntry(f"{path.name}/{one.stem}", origin, one)
                    for one in sorted(path.iterdir())
                    if one.suffix.lower() in SUFFIXES and one.suffix.lower() != ".json"
                )


def _in_group(path: Path) -> Path | None:
    """Return the file of `GROUP/NAME` below ./suites or the included suites."""
    if path.is_absolute() or ".." in path.parts:
        return None
    files = (
        folder / path.with_name(path.name + suffix)
        for folder in (_FOLDER, shipped_folder())
        for suffix in SUFFIXES
    )
    return next((file for file in files if path.name and file.is_file()), None)


def _plug_ins() -> Iterator[CatalogEntry]:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        yield _plug_in(point)


def _plug_in(point: EntryPoint) -> CatalogEntry:
    """Return the suite of an entry point, which names a path, or a function that returns one."""
    try:
        found = point.load()
        path = Path(found() if callable(found) else found)
    except (Exception, SystemExit, ProcessExit) as error:  # noqa: BLE001  # a plug-in may raise anything
        fault = f"the plug-in {point.value} cannot be loaded: {type(error).__name__}: {error}"
        return CatalogEntry(point.name, "plug-in", None, fault)
    return CatalogEntry(point.name, "plug-in", path)


def _file_meant(path: Path) -> str:
    """Return a hint at a file in the same folder with a name like `path`, with or without its
    suffix.
    """
    from difflib import get_close_matches

    names = sorted(_siblings(path))
    files = {Path(name).stem: name for name in names} | {name: name for name in names}
    near = get_close_matches(path.name, files, n=1)
    return f' (did you mean the file "{files[near[0]]}"?)' if near else ""


def _siblings(path: Path) -> list[str]:
    if not path.parent.is_dir():
        return []
    return [other.name for other in path.parent.iterdir() if other.suffix.lower() in SUFFIXES]
