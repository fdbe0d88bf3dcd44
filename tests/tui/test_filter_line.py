"""The filter line opens, tells what one types, and goes when it is emptied."""

from textual.app import App, ComposeResult

from agentbench_tui.tui.widgets.filter_line import FilterLine, holds


class Filtering(App[None]):
    """Notes what the line says."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield FilterLine()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        self.said.append(event.words)

    def on_filter_line_left(self) -> None:
        self.said.append("(left)")


async def test_typing_enter_and_escape() -> None:
    app = Filtering()
    async with app.run_test() as pilot:
        line = app.query_one(FilterLine)
        assert not line.display
        line.open()
        await pilot.press("a", "b", "enter")
        assert app.said == ["a", "ab", "(left)"]
        assert line.display
        line.open()
        await pilot.press("escape")
        assert app.said[3:] == ["(left)", ""] or app.said[3:] == ["", "(left)"]
        assert not line.display


def test_every_word_must_stand_somewhere() -> None:
    assert holds("", "anything")
    assert holds("GOOD tag", "tag:first/good", "run")
    assert not holds("good bad", "good")
