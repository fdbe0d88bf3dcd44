"""Every non-ASCII character that is drawn, with its replacement for terminals without it.

Widgets take a `Glyphs` and never write such a character themselves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

_POOR_TERMINALS = frozenset({"dumb", "linux", "vt100", "vt102", "vt220", "ansi", "cons25"})
"""Values of TERM whose fonts lack braille and most blocks."""
_PLAIN_LOCALES = frozenset({"C", "POSIX"})
_PLAIN = {
    "–": "-", "—": "-", "−": "-", "…": "~", "·": "|", "×": "x", "÷": "/", "±": "+/-", "≈": "~",
    "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "←": "<-", "↑": "^", "↓": "v", "µ": "u", "°": "",
    "“": '"', "”": '"', "‘": "'", "’": "'", "²": "2", "√": "sqrt ", "∞": "inf", "Δ": "d",
    "α": "alpha", "β": "beta", "κ": "kappa", "λ": "lambda", "σ": "sigma", "▲": "^", "▼": "v",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One character per field, one cell wide, unless the field says otherwise."""

    braille: bool
    """Whether plots use braille dots, or `. ' : #`."""
    rising: str
    """Nine, from nothing to a full cell, growing upwards."""
    growing: str
    """Nine, from nothing to a full cell, growing to the right."""
    full: str
    upper_half: str
    lower_half: str
    shades: str
    """Three, from light to dark."""
    heavy: str
    """A gauge's filled part."""
    light: str
    """A gauge's empty part, and a thin rule."""
    horizontal: str
    vertical: str
    dashed_horizontal: str
    dashed_vertical: str
    corner_top_left: str
    corner_top_right: str
    corner_bottom_left: str
    corner_bottom_right: str
    tee_down: str
    """A rule with a tick below."""
    tee_up: str
    tee_left: str
    """An upright with a tick on its left."""
    tee_right: str
    cross: str
    markers: str
    """Eight markers, one per series, distinguishable without color."""
    up: str
    down: str
    level: str
    """Neither up nor down."""
    pointer: str
    """Before the row or case one is at."""
    opened: str
    """Before something folded out."""
    tick: str
    no: str
    """Symbol for a failure or refusal."""
    warn: str
    bad: str
    """Up to two cells."""
    nothing: str
    """In place of a value that could not be measured."""
    ellipsis: str
    separator: str
    """Between two facts on one line."""
    interval_low: str
    """Left end of an interval."""
    interval_high: str
    interval_line: str
    interval_center: str
    arrow: str
    """To the right; up to two cells."""

    def plain(self, text: str) -> str:
        """Return `text` as this set can show it: unchanged, or in ASCII with `?` for unknown
        characters.
        """
        if self.braille or text.isascii():
            return text
        return "".join(
            character if character.isascii() else _PLAIN.get(character, "?") for character in text
        )


UNICODE = Glyphs(
    braille=True,
    rising=" ▁▂▃▄▅▆▇█",
    growing=" ▏▎▍▌▋▊▉█",
    full="█",
    upper_half="▀",
    lower_half="▄",
    shades="░▒▓",
    heavy="━",
    light="─",
    horizontal="─",
    vertical="│",
    dashed_horizontal="╌",
    dashed_vertical="╎",
    corner_top_left="┌",
    corner_top_right="┐",
    corner_bottom_left="└",
    corner_bottom_right="┘",
    tee_down="┬",
    tee_up="┴",
    tee_left="┤",
    tee_right="├",
    cross="┼",
    markers="●▲■◆○△□◇",
    up="▲",
    down="▼",
    level="=",
    pointer="▸",
    opened="▾",
    tick="✓",
    no="✗",
    warn="!",
    bad="‼",
    nothing="–",
    ellipsis="…",
    separator="·",
    interval_low="├",
    interval_high="┤",
    interval_line="─",
    interval_center="●",
    arrow="→",
)
ASCII = Glyphs(
    braille=False,
    rising=" ..:::|##",
    growing=" ---===##",
    full="#",
    upper_half='"',
    lower_half="_",
    shades=".:%",
    heavy="=",
    light="-",
    horizontal="-",
    vertical="|",
    dashed_horizontal="-",
    dashed_vertical=":",
    corner_top_left="+",
    corner_top_right="+",
    corner_bottom_left="+",
    corner_bottom_right="+",
    tee_down="+",
    tee_up="+",
    tee_left="+",
    tee_right="+",
    cross="+",
    markers="o^&*0$@%",
    up="^",
    down="v",
    level="=",
    pointer=">",
    opened="v",
    tick="+",
    no="x",
    warn="!",
    bad="!!",
    nothing="-",
    ellipsis="~",
    separator="|",
    interval_low="[",
    interval_high="]",
    interval_line="-",
    interval_center="o",
    arrow="->",
)


def glyphs(
    only_ascii: bool | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    encoding: str | None = None,
) -> Glyphs:
    """Return the set to draw with.

    `only_ascii` decides where given, then AGENTBENCH_ASCII (`1` or `0`); otherwise ASCII is for
    terminals that TERM names as poor, for the locale C, and for an output that is no Unicode.
    `environment` and `encoding` are those of this process where left out.
    """
    variables = os.environ if environment is None else environment
    if only_ascii is None and (wish := variables.get("AGENTBENCH_ASCII")):
        only_ascii = wish.lower() not in {"0", "no", "false", "off"}
    if only_ascii is None:
        output = encoding or getattr(sys.__stdout__, "encoding", None) or "utf-8"
        poor = variables.get("TERM", "").lower() in _POOR_TERMINALS
        only_ascii = poor or "utf" not in output.lower() or _is_plain_locale(variables)
    return ASCII if only_ascii else UNICODE


def _is_plain_locale(variables: Mapping[str, str]) -> bool:
    """Return whether the user chose the locale C, whose output Python encodes as UTF-8 anyway.

    Python then sets LC_CTYPE itself (PEP 538). Without any locale, as in containers, terminals
    show UTF-8.
    """
    if every := variables.get("LC_ALL"):
        return every in _PLAIN_LOCALES
    kept = variables.get("LC_CTYPE", "") in {"", "C.UTF-8", *_PLAIN_LOCALES}
    return kept and variables.get("LANG", "") in _PLAIN_LOCALES
