"""A report as JSON: the document that the command which prints it has, by its published schema."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agentbench_tui.contracts.document import plain

if TYPE_CHECKING:
    from agentbench_tui.presentation.full_report.parts import FullReport

_LONE = re.compile("[\ud800-\udfff]")
"""Halves of a pair of code units: no UTF-8, and no JSON that every reader takes."""


def json_text(report: FullReport) -> str:
    """Return the document, one value a line."""
    text = json.dumps(plain(report.document), indent=2, ensure_ascii=False, allow_nan=False)
    return _LONE.sub("\ufffd", text) + "\n"
