"""Building blocks of pages on market worlds: a document, tables, links, lines over the ticks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from agentbench_tui.model.text.plain_number import plain

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem;
  color: #1b1f24; background: #fff }
nav { margin-bottom: 1rem } nav a { margin-right: 1rem } a { color: #0969da }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dee4;
  vertical-align: top }
th { vertical-align: bottom } td { white-space: nowrap }
.n { text-align: right; font-variant-numeric: tabular-nums }
.long { white-space: normal; overflow-wrap: anywhere; min-width: 16rem }
.no { color: #b42318 } .quiet { color: #57606a }
svg { width: 100%; height: auto; border: 1px solid #d8dee4 }
svg text { font: 12px system-ui, sans-serif; fill: #57606a }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 }
  a { color: #58a6ff } .quiet { color: #9198a1 } svg text { fill: #9198a1 } .no { color: #ff7b72 }
  th, td, svg { border-color: #30363d } }
"""
_COLOURS = ("#0969da", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#57606a", "#0598bc")
_WIDTH, _HEIGHT = 900, 240
_LONG = 24
"""Characters of a text from which on it may be broken anywhere."""


class Link(NamedTuple):
    """A text with a link."""

    to: str
    text: str


class Links(NamedTuple):
    """Some of them in one cell."""

    those: tuple[Link, ...]


def document(title: str, body: str, links: Iterable[Link] = ()) -> str:
    """A page; `title` is text, `body` is HTML, `links` stand above it."""
    above = "".join(map(_anchor, links))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>{f'<nav>{above}</nav>' if above else ''}<h1>{escape(title)}</h1>\n{body}\n"
        "</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts, links and numbers; numbers, and what they are called, stand right."""
    rows = list(rows)
    names = "".join(
        f"<th{_right(any(_is_number(row[place]) for row in rows))}>{_breakable(name)}</th>"
        for place, name in enumerate(head)
    )
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    above = f"<thead><tr>{names}</tr></thead>\n" if any(head) else ""
    return f"<table>{above}<tbody>\n{lines}</tbody></table>"


def number(value: object) -> str:
    """A number as tables print it; – where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    rounded = round(value, 4) + 0.0  # no minus before a 0
    return f"{rounded:,.4f}".rstrip("0").rstrip(".")


def lines(title: str, those: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Lines over the ticks, as SVG; nothing where there is nothing to draw."""
    values = [value for _, line in those for value in line]
    if not values:
        return ""
    low, high = min(values), max(values)
    height = (high - low) or 1.0
    paths = []
    for place, (name, line) in enumerate(those):
        step = _WIDTH / max(1, len(line) - 1)
        points = " ".join(
            f"{nth * step:.1f},{_HEIGHT - 20 - (value - low) / height * (_HEIGHT - 40):.1f}"
            for nth, value in enumerate(line)
        )
        paths.append(
            f'<polyline fill="none" stroke="{_COLOURS[place % len(_COLOURS)]}" stroke-width="1.5"'
            f' points="{points}"><title>{escape(name)}</title></polyline>'
        )
    return (
        f"<h2>{escape(title)}</h2>\n"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(paths)}{_scale(low, high)}</svg>\n{_legend([name for name, _ in those])}"
    )


def _scale(low: float, high: float) -> str:
    ends = ((14, high), (_HEIGHT - 6, low))
    return "".join(
        f'<text x="4" y="{height}">{escape(plain(round(value, 4)))}</text>'
        for height, value in ends
    )


def _legend(names: Sequence[str]) -> str:
    """Which colour is what, where there are several."""
    if len(names) < 2:
        return ""
    told = " · ".join(
        f'<span style="color:{_COLOURS[place % len(_COLOURS)]}">{escape(name)}</span>'
        for place, name in enumerate(names)
    )
    return f"<p class=quiet>{told}</p>"


def _cell(value: object) -> str:
    if isinstance(value, Link):
        return f"<td>{_anchor(value)}</td>"
    if isinstance(value, Links):
        return f"<td>{' · '.join(map(_anchor, value.those))}</td>"
    if isinstance(value, bool):
        return "<td>yes</td>" if value else '<td class="no">no</td>'
    if value is None or _is_number(value):
        return f'<td class="n">{escape(number(value))}</td>'
    text = str(value)
    wide = ' class="long"' if len(text) > _LONG else ""
    return f"<td{wide}>{escape(text)}</td>"


def _anchor(link: Link) -> str:
    return f'<a href="{escape(link.to)}">{escape(link.text)}</a>'


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _breakable(name: str) -> str:
    """A name that may be broken where it has an underscore: headings are wider than numbers."""
    return escape(name).replace("_", "_<wbr>")


def _right(is_right: bool) -> str:
    return ' class="n"' if is_right else ""
