"""Colors: by role, the same with 256 colors, readable, and none at all where none are wanted."""

from dataclasses import fields
from itertools import combinations
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from agentbench_tui.tui.kept_theme import keep_theme, kept_theme
from agentbench_tui.tui.theme import (
    CONTRAST,
    DARK,
    LIGHT,
    THEMES,
    Palette,
    palette,
    themes,
)

_BACKGROUNDS = {theme.name: theme.background for theme in themes()}
_LEAST_CONTRAST = {DARK: 3.0, LIGHT: 2.9, CONTRAST: 4.5}
"""WCAG 2.2 asks 3 of graphics; `high contrast` promises 4.5. Orange on white needs 2.9."""


def _styles(chosen: Palette) -> dict[str, Style]:
    roles = {
        field.name: getattr(chosen, field.name)
        for field in fields(Palette)
        if field.name != "series"
    }
    return roles | {f"series {one.letter}": one.style for one in chosen.series}


def _luminance(channels: tuple[int, int, int]) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (channel / 255 for channel in channels)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", [DARK, LIGHT, CONTRAST])
def test_every_color_is_one_that_a_terminal_of_256_colors_has(name: str) -> None:
    for role, style in _styles(palette(name)).items():
        for color in (style.color, style.bgcolor):
            if color is not None and color.triplet is not None:
                shown = color.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
                assert max(abs(a - b) for a, b in zip(shown, color.triplet, strict=True)) <= 12, (
                    role
                )


@pytest.mark.parametrize("name", [DARK, LIGHT, CONTRAST])
def test_text_and_lines_stand_out_from_the_background(name: str) -> None:
    ground = Style.parse(f"on {_BACKGROUNDS[name]}").bgcolor
    assert ground is not None
    for role, style in _styles(palette(name)).items():
        if role == "frame" or style.color is None or style.bgcolor is not None:
            continue
        contrast = _contrast(style.color.get_truecolor(), ground.get_truecolor())
        least = 4.5 if role in {"text", "dim", "title", "header"} else _LEAST_CONTRAST[name]
        assert contrast >= least, (role, contrast)


@pytest.mark.parametrize("name", THEMES)
def test_series_differ_in_color_marker_and_letter(name: str) -> None:
    series = palette(name).series
    assert len(series) == 8
    for one, other in combinations(series, 2):
        assert one.style != other.style
        assert one.marker != other.marker
        assert one.letter != other.letter


def test_series_come_round_again() -> None:
    assert palette(DARK).of(9) == palette(DARK).series[1]


def test_without_color_there_is_none() -> None:
    for role, style in _styles(palette(DARK, no_color=True)).items():
        assert style.color is None, role
        assert style.bgcolor is None, role


def test_what_is_bad_stands_out_without_color() -> None:
    colorless = palette(DARK, no_color=True)
    assert colorless.bad != colorless.text
    assert colorless.cursor.reverse


def test_the_theme_chosen_last_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert kept_theme() is None
    keep_theme(LIGHT)
    assert kept_theme() == LIGHT
    (kept,) = (tmp_path / "agentbench").iterdir()
    kept.write_bytes(b"\xff no theme")
    assert kept_theme() is None
    monkeypatch.setenv("XDG_CONFIG_HOME", str(kept))  # a file: no folder can be made in it
    keep_theme(LIGHT)
    assert kept_theme() is None


def test_a_theme_of_somebody_else_has_the_default_palette() -> None:
    assert palette("nord") is palette(DARK)


@pytest.mark.parametrize("variable", ["text-muted", "text-disabled"])
def test_labels_and_hints_of_a_form_keep_what_high_contrast_promises(variable: str) -> None:
    theme = next(one for one in themes() if one.name == CONTRAST)
    color, ground = Color.parse(theme.variables[variable]), Color.parse(theme.surface or "")
    assert _contrast(color.get_truecolor(), ground.get_truecolor()) >= _LEAST_CONTRAST[CONTRAST]
