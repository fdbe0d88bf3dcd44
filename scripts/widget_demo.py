"""Show one widget of the session: `python scripts/widget_demo.py WIDGET`.

Without a widget it lists them. Each module in `scripts/widget_examples` has a function `demo` that
returns a widget with example data that say they are an example.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import widget_examples
from textual.app import App, ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from agentbench_tui.tui.drawing.glyphs import Glyphs, glyphs
from agentbench_tui.tui.theme import ANSI_DARK, DARK, THEMES, themes

_HINT = "an example, its data are made up · t theme · q quit"


def demos() -> dict[str, Callable[[], Widget]]:
    """By the name of the widget's module: what makes its example."""
    found: dict[str, Callable[[], Widget]] = {}
    for module in pkgutil.iter_modules(widget_examples.__path__):
        found[module.name] = import_module(f"widget_examples.{module.name}").demo
    return found


class DemoApp(App[None]):
    """One widget, as large as the terminal."""

    CSS: ClassVar[str] = "#hint { dock: bottom; height: 1; color: $text-muted; }"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False
    BINDINGS: ClassVar = [("q", "quit", "Quit"), ("t", "next_theme", "Theme")]

    def __init__(
        self, make: Callable[[], Widget], theme_name: str = DARK, only_ascii: bool | None = None
    ) -> None:
        """`make` is called once there is an app. Under NO_COLOR the theme is the terminal's."""
        # Said before Textual chooses its filter: the other one for NO_COLOR makes grays.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.glyphs: Glyphs = glyphs(only_ascii)
        self._make = make
        for theme in themes():
            self.register_theme(theme)
        self.theme = ANSI_DARK if self.no_color else theme_name

    def compose(self) -> ComposeResult:
        yield self._make()
        yield Static(self.glyphs.plain(_HINT), id="hint", markup=False)

    def action_next_theme(self) -> None:
        """The next theme of those that a person can choose."""
        self.theme = THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]


async def picture(
    make: Callable[[], Widget], size: tuple[int, int], theme_name: str, only_ascii: bool
) -> str:
    """The widget as SVG. `size`: columns and rows."""
    app = DemoApp(make, theme_name, only_ascii)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        return app.export_screenshot(title="agentbench example")


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and int(columns) and int(rows)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; give columns and rows: 80x24")
    return int(columns), int(rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python scripts/widget_demo.py", description="Show one widget of the session."
    )
    parser.add_argument("widget", nargs="?", help="its name; without one, all are listed")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a picture and leave")
    parser.add_argument("--size", type=_size, default=(80, 24), metavar="80x24", help="of --svg")
    parser.add_argument("--theme", choices=THEMES, default=DARK)
    parser.add_argument("--ascii", action="store_true", help="ASCII characters alone")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Show, draw or list; gives the exit code."""
    options = _options(arguments)
    known = demos()
    if options.widget is None:
        sys.stdout.write("\n".join(sorted(known)) + "\n")
        return 0
    if options.widget not in known:
        sys.stderr.write(f"no widget {options.widget!r}; there are: {', '.join(sorted(known))}\n")
        return 2
    make = known[options.widget]
    if options.svg is not None:
        svg = asyncio.run(picture(make, options.size, options.theme, options.ascii))
        options.svg.write_text(svg, encoding="utf-8")
        return 0
    DemoApp(make, options.theme, True if options.ascii else None).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
