"""How Sphinx builds the site of docs/ (`./run docs`): from Markdown, without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "agentbench"
extensions = ["myst_parser"]
# The source is the root of the repository, so that links between README.md and docs/ hold.
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "build", "dist", "site"]
myst_heading_anchors = 4  # the anchors that GitHub gives to headings
smartquotes = False  # else `--` in plain text becomes a dash
suppress_warnings = ["misc.highlighting_failure"]  # JSON with `…` is shown without colors
html_theme = "furo"
html_title = "agentbench"
html_copy_source = False
html_show_sphinx = False

ENTRANCE = """<!doctype html>
<meta charset="utf-8">
<title>agentbench</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
"""


def setup(app: Sphinx) -> None:
    """Entry point of Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("build-finished", write_entrance)


def add_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    """Make each part of the index, with the pages that it links to, a part of the navigation."""
    if name != root_doc:
        return
    _, *parts = re.split(r"(?m)^## (.+)$", source[0])
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        pages = "\n".join(re.findall(r"\]\(([\w./-]+)\.md\)", text))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{pages}\n```\n"


def write_entrance(app: Sphinx, error: Exception | None) -> None:
    """Lead from the root of the site to the index."""
    if error is None:
        Path(app.outdir, "index.html").write_text(ENTRANCE, encoding="utf-8")
