"""What holds for the rows of every widget, whatever it shows."""

from collections.abc import Sequence

from rich.cells import cell_len

from agentbench_tui.tui.drawing.painting import Row


def assert_whole(rows: Sequence[Row], width: int, height: int) -> None:
    """`height` rows of `width` cells each, every piece with a style and on one line."""
    assert len(rows) == height
    for row in rows:
        text = "".join(piece.text for piece in row)
        assert cell_len(text) == width, text
        assert text.isprintable(), text
        assert all(piece.style is not None for piece in row)
