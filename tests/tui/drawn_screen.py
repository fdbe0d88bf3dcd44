"""A screen in plain text with its colours: what is kept of it, and read where it differs."""

import string
from collections import Counter

from rich.cells import cell_len
from textual.app import App

COLOURS = "colours:"
_LETTERS = string.ascii_letters + string.digits


def drawn(app: App[None]) -> str:
    """The rows of the screen; then, below `colours:`, a letter for the style of each cell (none
    for the style that most have), and what the letters stand for, in order of the styles."""
    texts, styles = [], []
    for strip in app.screen._compositor.render_strips():
        texts.append("".join(piece.text for piece in strip).rstrip())
        styles.append([str(piece.style) for piece in strip for _ in range(cell_len(piece.text))])
    usual, _ = Counter(style for row in styles for style in row).most_common(1)[0]
    others = sorted({style for row in styles for style in row} - {usual})
    letter = dict(zip(others, _LETTERS, strict=False)) | {usual: " "}
    rows = ["".join(letter[style] for style in row).rstrip() for row in styles]
    legend = [f"{letter[style]} {style}" for style in (usual, *others)]
    return "\n".join([*texts, COLOURS, *rows, *legend]) + "\n"
