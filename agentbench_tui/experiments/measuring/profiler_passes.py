"""Runs profilers, each in a separate pass on a call that is never among the measured ones.

Each writes files to the variant's folder and a short summary of time or memory.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentbench_tui.experiments.measuring.order import Instrument, Profiled
from agentbench_tui.experiments.measuring.timing import Timed
from agentbench_tui.model.errors import MissingExtra

TOP_N = 30
Call = Callable[[], Timed]


def profiled(instrument: Instrument, call: Call, folder: Path) -> Profiled:
    """Run one call under the instrument. Raises MissingExtra, and the call's exceptions."""
    folder.mkdir(parents=True, exist_ok=True)
    return PASSES[instrument.name](instrument, call, folder)


def _cprofile(instrument: Instrument, call: Call, folder: Path) -> Profiled:
    import cProfile
    import pstats

    profiler = cProfile.Profile()
    profiler.enable()
    try:
        result = call()
    finally:
        profiler.disable()
    top = int(instrument.options.get("top_n", TOP_N))
    raw, path = folder / "cprofile.prof", folder / "cprofile.json"
    profiler.dump_stats(raw)
    entries: dict[tuple[str, int, str], tuple[Any, ...]] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    rows = [
        {
            "function": name,
            "file": file,
            "line": line,
            "calls": entry[1],
            "primitive_calls": entry[0],
            "internal_time": entry[2],
            "cumulative_time": entry[3],
        }
        for (file, line, name), entry in entries.items()
    ]
    summary = {
        f"top_{word}": sorted(rows, key=lambda row: -row[key])[:top]
        for word, key in (
            ("cumulative", "cumulative_time"),
            ("internal", "internal_time"),
            ("calls", "calls"),
        )
    }
    _write(path, summary)
    most = summary["top_internal"][0] if rows else None
    return Profiled(
        instrument.name,
        (str(raw), str(path)),
        result.ns / 1e6,
        {}
        if most is None
        else {"most_time_in": f"{most['function']} ({most['internal_time']:.3g} s)"},
    )


def _pyinstrument(instrument: Instrument, call: Call, folder: Path) -> Profiled:
    try:
        library: Any = importlib.import_module("pyinstrument")
        renderers: Any = importlib.import_module("pyinstrument.renderers")
    except ModuleNotFoundError:
        raise MissingExtra("the instrument pyinstrument", "profile") from None
    profiler = library.Profiler(interval=float(instrument.options.get("interval_ms", 1)) / 1e3)
    profiler.start()
    try:
        result = call()
    finally:
        profiler.stop()
    text, flame = folder / "pyinstrument.txt", folder / "pyinstrument.speedscope.json"
    text.write_text(profiler.output_text(unicode=True, color=False), encoding="utf-8")
    flame.write_text(profiler.output(renderers.SpeedscopeRenderer()), encoding="utf-8")
    return Profiled(instrument.name, (str(text), str(flame)), result.ns / 1e6)


def _tracemalloc(instrument: Instrument, call: Call, folder: Path) -> Profiled:
    import tracemalloc

    top = int(instrument.options.get("top_n", TOP_N))
    was_on = tracemalloc.is_tracing()
    if not was_on:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.take_snapshot()
        held, _ = tracemalloc.get_traced_memory()
        result = call()
        after, peak = tracemalloc.get_traced_memory()
        grown = tracemalloc.take_snapshot().compare_to(before, "lineno")[:top]
    finally:
        if not was_on:
            tracemalloc.stop()
    # Memory of C libraries that do not report to Python is not seen.
    summary = {"peak_bytes": peak - held, "kept_bytes": after - held}
    path = folder / "tracemalloc.json"
    places = [
        {"file": one.traceback[0].filename, "line": one.traceback[0].lineno,
         "bytes": one.size_diff, "blocks": one.count_diff}
        for one in grown
    ]  # fmt: skip
    _write(path, {**summary, "top_grown": places})
    return Profiled(instrument.name, (str(path),), result.ns / 1e6, summary)


def _memray(instrument: Instrument, call: Call, folder: Path) -> Profiled:
    try:
        library: Any = importlib.import_module("memray")
    except ModuleNotFoundError:
        raise MissingExtra("the instrument memray", "profile") from None
    path = folder / "memray.bin"
    path.unlink(missing_ok=True)  # of this very run, which was interrupted here
    with library.Tracker(str(path)):
        result = call()
    peak = int(library.FileReader(str(path)).metadata.peak_memory)
    return Profiled(instrument.name, (str(path),), result.ns / 1e6, {"peak_bytes": peak})


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2))


PASSES: dict[str, Callable[[Instrument, Call, Path], Profiled]] = {
    "cprofile": _cprofile,
    "pyinstrument": _pyinstrument,
    "tracemalloc": _tracemalloc,
    "memray": _memray,
}
"""Instrument → its pass."""
