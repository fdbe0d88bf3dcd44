"""Cells of a sample table, as text without spreadsheet guards, and as numbers."""

from __future__ import annotations

import math
from typing import Any

from agentbench_tui.model.text.delimited import with_decimal_point

NOTHING = {"", "nan", "null", "none", "n/a", "na", "-", "–"}
YES = {"1", "true", "yes", "y", "correct", "right", "pass", "passed", "success"}
NO = {"0", "false", "no", "n", "incorrect", "wrong", "fail", "failed", "failure"}


def text_of(cell: Any) -> str:
    """Return a cell without the prefix that keeps a spreadsheet from reading it as a formula."""
    if cell is None:
        return ""
    text = str(cell).strip()
    if text[:1] == "'" and text[1:].lstrip()[:1] in {"=", "+", "-", "@"}:
        return text[1:]
    if text.startswith('="') and text.endswith('"'):
        return text[2:-1]
    return text


def number_of(cell: Any, *, share: bool, decimal_comma: bool) -> float | None:
    """Return the cell's number; NaN if the cell is empty, None if it is not a number."""
    if isinstance(cell, bool | int | float):
        try:
            return float(cell)
        except OverflowError:
            return None
    text = text_of(cell).lower()
    if text in NOTHING:
        return math.nan
    if share and text in YES | NO:
        return float(text in YES)
    percent = share and text.endswith("%")
    if percent:
        text = text[:-1].strip()
    if decimal_comma:
        text = with_decimal_point(text)
    try:
        value = float(text)
    except ValueError:
        return None
    return value / 100 if percent else value
