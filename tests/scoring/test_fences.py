"""Fenced blocks as CommonMark reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agentbench_tui.scoring.code.fences import fenced_blocks


def contents(text: str) -> list[tuple[str, str]]:
    return [(block.language, block.content) for block in fenced_blocks(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("a\n```python\nx = 1\n```\nb", [("python", "x = 1\n")]),
        ("~~~Python title=x\nx\n~~~~\n", [("python", "x\n")]),
        ("````\n```\nx\n```\n````", [("", "```\nx\n```\n")]),
        ("~~~\n```\nx\n~~~", [("", "```\nx\n")]),
        ("```\nx", [("", "x")]),
        ("```\r\nx\r\n```\r\n", [("", "x\r\n")]),
        ("```py\n    ```\nx\n```", [("py", "    ```\nx\n")]),
        ("1. Do:\n\n   ```py\n   if x:\n       y\n   ```\n", [("py", "if x:\n    y\n")]),
        ("   ```py\n x\n   y\n```\n", [("py", "x\ny\n")]),
        ("- ```py\n  x\n    y\n  ```\n", [("py", "x\n  y\n")]),
        ("\t```py\n\tx\n\t```\n", [("py", "x\n")]),
        ("```py\nx\n```</s>", [("py", "x\n")]),
        ("```py\nx\n```<|im_end|>", [("py", "x\n")]),
        ("```code``` in a line\n``` `a` ```\n", []),
        ("```a\n1\n```\n```b\n2\n```", [("a", "1\n"), ("b", "2\n")]),
        ("> ```python\n> def f():\n>     x\n> ```\nb", [("python", "def f():\n    x\n")]),
        (">```py\n>x\n>\n>y\n>```", [("py", "x\n\ny\n")]),
        ("> > ```py\n> > x\n> > ```\n", [("py", "x\n")]),
        ("> ```py\n> x\n\ny\n```py\nz\n```", [("py", "x\n"), ("py", "z\n")]),
        ("```md\n> ```py\n> x\n```", [("md", "> ```py\n> x\n")]),
        ("no block", []),
    ],
)
def test_blocks_of_a_text(text: str, blocks: list[tuple[str, str]]) -> None:
    assert contents(text) == blocks


LINES = st.sampled_from(
    [
        *("x", "  y", "```", "````", "~~~", "~~~~", "```py", "~~~ js x", "  ```", "", "``"),
        *("> x", ">   y", "> ```", "> ~~~", "> ```py", "> > ```"),
    ]
)


@given(st.lists(LINES, max_size=12))
def test_blocks_are_those_of_another_reader_of_commonmark(lines: list[str]) -> None:
    text = "\n".join(lines)
    tokens = MarkdownIt("commonmark").parse(text)
    expected = [
        ((token.info.split() or [""])[0], token.content)
        for token in tokens
        if token.type == "fence"
    ]
    found = [(language, content.rstrip("\n")) for language, content in contents(text)]
    assert found == [(language, content.rstrip("\n")) for language, content in expected]


def test_long_line_of_fences_is_read() -> None:
    assert contents("`" * 1_000_000) == [("", "")]
    assert contents("- " * 300_000 + "x") == []
