"""Styles by role, for every theme.

No meaning depends on color alone: a marker, letter or sign accompanies it. Colors come from the
6×6×6 cube (steps 0, 95, 135, 175, 215, 255) and the gray ramp of terminals with 256 colors, so that
an SSH session without true color shows the same. The hues of series are those of Okabe and Ito
(Color Universal Design, 2008), moved to the cube.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from textual.theme import Theme

DARK, LIGHT, CONTRAST = "agentbench-dark", "agentbench-light", "agentbench-contrast"
ANSI_DARK, ANSI_LIGHT = "ansi-dark", "ansi-light"
SERIES = 8
"""Series of a palette; further ones repeat them."""
THEMES = (DARK, LIGHT, CONTRAST, ANSI_DARK, ANSI_LIGHT)
"""Names a person can choose from; the last two are Textual's and use the terminal's own colors."""


@dataclass(frozen=True, slots=True)
class Series:
    """Style that distinguishes one of several series."""

    style: Style
    faint: Style
    """For areas behind its line."""
    marker: int
    """Its place in `Glyphs.markers`."""
    letter: str


@dataclass(frozen=True, slots=True)
class Palette:
    """A style for each role. Only `header`, `cursor` and `selected` have a background."""

    text: Style
    dim: Style
    """Units, numbers of axes, less important text."""
    frame: Style
    """Rules, axes, empty parts of gauges."""
    title: Style
    accent: Style
    """Text to look at or to press."""
    good: Style
    warn: Style
    bad: Style
    header: Style
    """Style of a table's column titles."""
    cursor: Style
    """Laid over the row one is at."""
    selected: Style
    """Laid over rows that were picked."""
    series: tuple[Series, ...]

    def of(self, number: int) -> Series:
        """Return the series with this number, cyclically."""
        return self.series[number % len(self.series)]


def _series(styles: list[Style], faint: list[Style]) -> tuple[Series, ...]:
    return tuple(
        Series(style, behind, number, ascii_uppercase[number])
        for number, (style, behind) in enumerate(zip(styles, faint, strict=True))
    )


def _colored(colors: dict[str, str], series: str, faint: str) -> Palette:
    """Return the palette; `series`, `faint`: eight colors separated by spaces."""
    return Palette(
        text=Style.parse(colors["text"]),
        dim=Style.parse(colors["dim"]),
        frame=Style.parse(colors["frame"]),
        title=Style.parse(f"bold {colors['text']}"),
        accent=Style.parse(f"bold {colors['accent']}"),
        good=Style.parse(colors["good"]),
        warn=Style.parse(colors["warn"]),
        bad=Style.parse(f"bold {colors['bad']}"),
        header=Style.parse(f"bold {colors['header']}"),
        cursor=Style.parse(colors["cursor"]),
        selected=Style.parse(colors["selected"]),
        series=_series(*([Style.parse(one) for one in each.split()] for each in (series, faint))),
    )


_PALETTES = {
    DARK: _colored(
        {
            "text": "#d0d0d0", "dim": "#8a8a8a", "frame": "#585858", "accent": "#ffd75f",
            "good": "#5fafff", "warn": "#ffd75f", "bad": "#ff5f00", "header": "#d7d7ff",
            "cursor": "on #005f87", "selected": "on #303030",
        },
        "#5fafd7 #d78700 #00af87 #d787af #ffd75f #0087d7 #d75f00 #d0d0d0",
        "#005f87 #875f00 #005f5f #875f87 #87875f #005faf #875f5f #585858",
    ),
    LIGHT: _colored(
        {
            "text": "#1c1c1c", "dim": "#585858", "frame": "#9e9e9e", "accent": "#875f00",
            "good": "#005faf", "warn": "#875f00", "bad": "#af0000", "header": "#00005f",
            "cursor": "on #afd7ff", "selected": "on #d0d0d0",
        },
        "#005faf #d75f00 #00875f #af5f87 #878700 #0087d7 #870000 #303030",
        "#87afd7 #ffaf87 #87d7af #d7afd7 #d7d787 #87d7ff #d78787 #b2b2b2",
    ),
    CONTRAST: _colored(
        {
            "text": "#ffffff", "dim": "#d0d0d0", "frame": "#9e9e9e", "accent": "#ffff5f",
            "good": "#5fd7ff", "warn": "#ffff5f", "bad": "#ff875f", "header": "#ffffff",
            "cursor": "bold #000000 on #ffff5f", "selected": "on #005faf",
        },
        "#5fd7ff #ffaf00 #00ffaf #ffafd7 #ffff5f #5fafff #ff875f #ffffff",
        "#005f87 #875f00 #00875f #875f87 #87875f #005faf #af5f5f #8a8a8a",
    ),
    ANSI_DARK: _colored(
        {
            "text": "default", "dim": "bright_black", "frame": "bright_black",
            "accent": "yellow", "good": "bright_blue", "warn": "yellow", "bad": "bright_red",
            "header": "default", "cursor": "bright_white on blue", "selected": "underline",
        },
        "bright_cyan yellow green magenta bright_yellow bright_blue bright_red white",
        "cyan yellow green magenta yellow blue red bright_black",
    ),
    ANSI_LIGHT: _colored(
        {
            "text": "default", "dim": "bright_black", "frame": "bright_black",
            "accent": "magenta", "good": "blue", "warn": "magenta", "bad": "red",
            "header": "default", "cursor": "bright_white on blue", "selected": "underline",
        },
        "blue red green magenta cyan bright_blue bright_red black",
        "bright_blue bright_red bright_green bright_magenta bright_cyan bright_black "
        "bright_black bright_black",
    ),
}  # fmt: skip
_DIM, _BOLD, _TEXT = Style(dim=True), Style(bold=True), Style(bold=False)
_COLORLESS = Palette(
    text=_TEXT,
    dim=_DIM,
    frame=_DIM,
    title=_BOLD,
    accent=_BOLD,
    good=_TEXT,
    warn=_BOLD,
    bad=_BOLD,  # has a symbol; reversed, a line of a plot would be a block as high as its cell
    header=Style(bold=True, underline=True),
    cursor=Style(reverse=True),
    selected=Style(underline=True),
    series=_series([_TEXT, _BOLD, _DIM, _TEXT, _BOLD, _DIM, _TEXT, _BOLD], [_DIM] * 8),
)


def palette(theme_name: str, *, no_color: bool = False) -> Palette:
    """Return the palette of a theme; for foreign themes that of the default one.

    `no_color`: bold, dim, reverse and underline alone.
    """
    return _COLORLESS if no_color else _PALETTES.get(theme_name, _PALETTES[DARK])


@lru_cache(maxsize=1)
def themes() -> tuple[Theme, ...]:
    """Return agentbench's themes for `App.register_theme`."""
    from textual.theme import Theme

    return (
        Theme(
            DARK, primary="#5fafd7", secondary="#0087d7", accent="#ffd75f", warning="#ffd75f",
            error="#ff5f00", success="#5fafff", foreground="#d0d0d0", background="#121212",
            surface="#1c1c1c", panel="#262626", dark=True,
        ),
        Theme(
            LIGHT, primary="#005faf", secondary="#0087d7", accent="#875f00", warning="#875f00",
            error="#af0000", success="#005faf", foreground="#1c1c1c", background="#ffffff",
            surface="#eeeeee", panel="#e4e4e4", dark=False,
        ),
        Theme(
            CONTRAST, primary="#5fd7ff", secondary="#5fafff", accent="#ffff5f", warning="#ffff5f",
            error="#ff875f", success="#5fd7ff", foreground="#ffffff", background="#000000",
            surface="#000000", panel="#1c1c1c", dark=True, text_alpha=1.0,
            # Labels and hints of a form: by default a share of the text's color, 5 and 2.5 to 1.
            variables={"text-muted": "#d0d0d0", "text-disabled": "#afafaf"},
        ),
    )  # fmt: skip
