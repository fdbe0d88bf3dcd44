"""Flame graphs as text, as SVG, and for speedscope.

`verdicts.profile.profile` returns one for spans; `flame_of_cprofile` builds one from a cProfile
file.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TypeAlias

from agentbench_tui.contracts.profile import FlameFrame
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import duration, percent

_Function: TypeAlias = tuple[str, int, str]
"""File, line and name."""
_Times: TypeAlias = tuple[int, int, float, float]
"""Calls that do not recurse, all calls, own time and time with what it calls, in s."""
LEAST_SHARE = 0.001
"""Share of the whole below which a frame is omitted from a call graph's flame."""
_DEEPEST = 60
_WIDTH, _ROW, _TEXT = 1200, 18, 7
"""Pixels: of a picture, of a row, of a character."""
_COLORS = ("#e6b566", "#e8a25c", "#dd8f5a", "#e9c07d", "#d9a05f")


def text_flame(root: FlameFrame, width: int = 100) -> list[str]:
    """A line for each frame, indented, with its time, its share, and a bar of that share; safe to
    look at."""
    total = root.value or 1.0
    bar = max(10, width // 4)
    lines: list[str] = []

    def walk(frame: FlameFrame, depth: int) -> None:
        share = frame.value / total
        name = "  " * depth + one_line(frame.name)
        room = max(10, width - bar - 23)
        filled = "#" * max(1, round(min(1.0, share) * bar))
        told = f"{duration(frame.value):>10} {percent(share):>7}"
        lines.append(f"{name[:room]:<{room}} {told} {filled}")
        for child in sorted(frame.children, key=lambda one: -one.value):
            walk(child, depth + 1)

    walk(root, 0)
    return lines


def svg_flame(root: FlameFrame, title: str) -> str:
    """Return a self-contained picture; the pointer shows the text of a frame.

    Frames are placed side by side in their parent. Parallel spans take more time than their parent,
    and are narrowed by a common factor.
    """
    total = root.value or 1.0
    boxes: list[str] = []
    deepest = 0

    def walk(frame: FlameFrame, x: float, width: float, depth: int) -> None:
        nonlocal deepest
        if width < 0.5:
            return
        deepest = max(deepest, depth)
        y = 30 + depth * _ROW
        told = f"{frame.name}: {duration(frame.value)} ({percent(frame.value / total)})"
        room = int(width / _TEXT) - 1
        label = frame.name if len(frame.name) <= room else frame.name[: max(0, room)]
        color = _COLORS[sum(map(ord, frame.name)) % len(_COLORS)]
        boxes.append(
            f'<g><title>{escape(told)}</title><rect x="{x:.2f}" y="{y}" width="{width:.2f}" '
            f'height="{_ROW - 1}" fill="{color}"/><text x="{x + 3:.2f}" y="{y + 13}">'
            f"{escape(label)}</text></g>"
        )
        inside = sum(child.value for child in frame.children)
        scale = width / max(frame.value, inside, 1e-12)
        for child in frame.children:
            walk(child, x, child.value * scale, depth + 1)
            x += child.value * scale

    walk(root, 0.0, float(_WIDTH), 0)
    height = 30 + (deepest + 1) * _ROW + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="monospace" font-size="12"><rect width="{_WIDTH}" height="{height}" '
        f'fill="#ffffff"/><text x="4" y="18">{escape(title)}</text>{"".join(boxes)}</svg>\n'
    )


def speedscope_flame(root: FlameFrame, title: str) -> str:
    """A file of speedscope's format (its schema `file-format-schema.json`), one sampled profile.

    Each frame's own time is a sample; a frame whose children took longer than itself, side by
    side, has none.
    """
    names: dict[str, int] = {}
    samples: list[list[int]] = []
    weights: list[float] = []

    def walk(frame: FlameFrame, above: list[int]) -> None:
        stack = [*above, names.setdefault(frame.name, len(names))]
        own = frame.value - sum(child.value for child in frame.children)
        if own > 0:
            samples.append(stack)
            weights.append(own)
        for child in frame.children:
            walk(child, stack)

    walk(root, [])
    return json.dumps(
        {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "name": title,
            "exporter": "agentbench",
            "activeProfileIndex": 0,
            "shared": {"frames": [{"name": name} for name in names]},
            "profiles": [
                {
                    "type": "sampled",
                    "name": title,
                    "unit": "milliseconds",
                    "startValue": 0,
                    "endValue": sum(weights),
                    "samples": samples,
                    "weights": weights,
                }
            ],
        }
    )


def flame_of_cprofile(path: Path) -> FlameFrame:
    """Return a flame graph of cProfile data, in ms.

    cProfile records callers, not whole stacks: a function's time is divided among its callers as
    recorded, and the time below it in the same proportion. Raises UsageError for an invalid file.
    """
    try:
        entries = _entries(path)
    except (OSError, ValueError, EOFError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: no profile of cProfile ({error})") from None
    calls: dict[_Function, list[tuple[_Function, float]]] = {}
    for function, (*_, callers) in entries.items():
        for caller, edge in callers.items():
            calls.setdefault(caller, []).append((function, edge[3]))
    roots = [one for one, (*_, callers) in entries.items() if callers.keys() <= {one}]
    longest = max(entries, key=lambda one: entries[one][3], default=None)
    if longest is not None and entries[longest][3] > sum(entries[one][3] for one in roots):
        roots = [longest]  # the first call is called again by what it calls
    total = sum(entries[one][3] for one in roots)

    def made(function: _Function, seconds: float, above: tuple[_Function, ...]) -> FlameFrame:
        share = seconds / (entries[function][3] or 1.0)
        children = tuple(
            made(callee, took * share, (*above, function))
            for callee, took in calls.get(function, ())
            if callee not in above
            and callee != function
            and len(above) < _DEEPEST
            and took * share >= LEAST_SHARE * total
        )
        return FlameFrame(name=_name(function), value=1000 * seconds, children=children)

    outermost = tuple(
        made(one, entries[one][3], ())
        for one in sorted(roots, key=lambda one: -entries[one][3])
        if entries[one][3] >= LEAST_SHARE * total
    )
    return FlameFrame(name=path.stem, value=1000 * total, children=outermost)


def _entries(path: Path) -> dict[_Function, tuple[*_Times, dict[_Function, _Times]]]:
    """Return the times of each function, with those that each of its callers caused."""
    import pstats

    return pstats.Stats(str(path)).stats  # type: ignore[attr-defined,no-any-return]


def _name(function: _Function) -> str:
    file, line, name = function
    return name if file == "~" else f"{name} ({Path(file).name}:{line})"
