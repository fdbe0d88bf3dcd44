"""The base of our widgets: what is on the screen is what was painted, row by row."""

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.widgets import TabbedContent, TabPane

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import Row, page, span
from agentbench_tui.tui.theme import ANSI_DARK, DARK, LIGHT, palette, themes
from agentbench_tui.tui.widgets.painted import Painted


class _Lines(Painted):
    """Shows lines; counts how often it paints, and which rows are refreshed."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = ["one", "two", "three"]
        self.paintings = 0
        self.refreshed: list[int] = []

    def paint(self, width: int, height: int) -> list[Row]:
        self.paintings += 1
        rows = [[span(line, self.palette.text)] for line in self.lines]
        return page(rows, width, height, self.palette.text)

    def refresh(self, *regions: Region, **options: bool) -> "_Lines":
        self.refreshed += [region.y for region in regions]
        return super().refresh(*regions, **options)

    def shown(self) -> list[str]:
        return [self.render_line(y).text.rstrip() for y in range(self.size.height)]


class _App(App[None]):
    CSS = "_Lines { border: solid gray; padding: 0 1; }"

    def __init__(self, chosen: Glyphs | None = None) -> None:
        super().__init__(ansi_color=None)
        if chosen is not None:
            self.glyphs = chosen
        for theme in themes():
            self.register_theme(theme)
        self.theme = DARK

    def compose(self) -> ComposeResult:
        yield _Lines()


async def test_without_a_column_nothing_is_painted() -> None:
    app = _App()
    async with app.run_test(size=(4, 7)) as pilot:  # border and padding take all four
        widget = app.query_one(_Lines)
        await pilot.pause()
        assert (widget.size.width, widget.size.height) == (0, 5)
        assert widget.render_line(0).text == ""
        widget.redraw()
        assert widget.paintings == 0


async def test_only_rows_that_changed_are_refreshed() -> None:
    app = _App()
    async with app.run_test(size=(20, 7)) as pilot:
        widget = app.query_one(_Lines)
        await pilot.pause()
        assert widget.shown() == ["one", "two", "three", "", ""]
        widget.refreshed.clear()
        widget.lines = ["one", "2", "three"]
        widget.redraw()
        assert widget.refreshed == [1]
        assert widget.shown()[1] == "2"
        widget.refreshed.clear()
        widget.redraw()
        assert widget.refreshed == []


async def test_what_changed_reaches_the_screen_inside_border_and_padding() -> None:
    app = _App()
    async with app.run_test(size=(20, 7)) as pilot:
        await pilot.pause()
        widget = app.query_one(_Lines)
        widget.lines = ["uno", "two", "three"]
        widget.redraw()
        await pilot.pause()
        lines = app.screen._compositor.render_strips()
        assert lines[1].text == "│ uno              │"


async def test_another_size_paints_again() -> None:
    app = _App()
    async with app.run_test(size=(20, 7)) as pilot:
        await pilot.pause()
        widget = app.query_one(_Lines)
        await pilot.resize_terminal(30, 5)
        await pilot.pause()
        assert widget.shown() == ["one", "two", "three"]
        assert widget.render_line(0).cell_length == 26


async def test_another_theme_has_its_own_colors() -> None:
    app = _App()
    async with app.run_test(size=(20, 7)) as pilot:
        await pilot.pause()
        widget = app.query_one(_Lines)
        app.theme = LIGHT
        await pilot.pause()
        assert widget.palette is palette(LIGHT)
        style = next(iter(widget.render_line(0))).style
        assert style is not None
        assert style.color == palette(LIGHT).text.color


async def test_a_hidden_widget_does_not_paint_until_it_is_shown() -> None:
    class Tabs(_App):
        def compose(self) -> ComposeResult:
            with TabbedContent():
                with TabPane("first", id="first"):
                    yield _Lines()
                with TabPane("second", id="second"):
                    yield _Lines()

    app = Tabs()
    async with app.run_test(size=(30, 12)) as pilot:
        await pilot.pause()
        hidden = app.query(_Lines).last()
        hidden.lines = ["news"]
        hidden.redraw()
        hidden.redraw()
        await pilot.pause()
        assert hidden.paintings == 0
        app.query_one(TabbedContent).active = "second"
        await pilot.pause()
        assert hidden.paintings == 1
        assert hidden.shown()[0] == "news"


async def test_a_widget_below_another_screen_does_not_paint() -> None:
    from textual.screen import Screen

    app = _App()
    async with app.run_test(size=(20, 7)) as pilot:
        await pilot.pause()
        widget = app.query_one(_Lines)
        before = widget.paintings
        await app.push_screen(Screen())
        await pilot.pause()
        widget.lines = ["news"]
        widget.redraw()
        assert widget.paintings == before
        await app.pop_screen()
        await pilot.pause()
        assert widget.shown()[0] == "news"


async def test_glyphs_are_those_of_the_app() -> None:
    app = _App(ASCII)
    async with app.run_test(size=(20, 7)):
        assert app.query_one(_Lines).glyphs is ASCII


async def test_glyphs_are_those_of_the_terminal_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTBENCH_ASCII", "0")
    app = _App()
    async with app.run_test(size=(20, 7)):
        assert app.query_one(_Lines).glyphs is UNICODE


async def test_no_color_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = _App()
    app.theme = ANSI_DARK
    async with app.run_test(size=(20, 7)) as pilot:
        await pilot.pause()
        widget = app.query_one(_Lines)
        assert widget.palette is palette(ANSI_DARK, no_color=True)
        assert widget.shown()[0] == "one"
