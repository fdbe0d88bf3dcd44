"""The page: template, style and script put together, under a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup

import agentbench_tui
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.chart_tables import chart_table
from agentbench_tui.presentation.report import list_item
from agentbench_tui.reports.html.charts.svg import legend, svg
from agentbench_tui.reports.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.presentation.full_report.parts import FullReport
    from agentbench_tui.reports.html.answers import PageAnswers

_LONGEST = 2000
"""Characters of a text outside of answers."""
_OUTCOMES = {"good": "Verdict", "bad": "Verdict: do not ship", "open": "No decision yet",
             "plain": "Result"}  # fmt: skip


def html_page(report: FullReport, answers: PageAnswers | None = None) -> str:
    """Return the page of a report, with the answers of its run if there are any.

    Everything is inside the file. Its content security policy allows this style and this script by
    their hashes and no request, so that even markup that escaped us could not act.
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        "default-src 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    details = [place for place, one in enumerate(report.chapters) if one.is_detail]
    after = details[0] if details else len(report.chapters)
    page: str = _template().render(
        report=report,
        palette=Palette(report.contenders),
        cases=answers,
        cases_after=max(after, 1),
        outcomes=_OUTCOMES,
        policy=policy,
        style=Markup(style),  # noqa: S704  # our own files
        script=Markup(script),  # noqa: S704
        version=agentbench_tui.__version__,
    )
    return page


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _template() -> Any:
    environment = Environment(
        loader=BaseLoader(), autoescape=True, undefined=StrictUndefined, trim_blocks=False
    )
    filters: dict[str, Callable[..., object]] = {
        "line": lambda text: one_line(str(text), _LONGEST),
        "item": list_item,
        "svg": svg,
        "legend": legend,
        "values": chart_table,
        "sort_key": _sort_key,
        "address": _address,
    }
    environment.filters |= filters
    return environment.from_string(_asset("report.html"))


def _address(place: object) -> str:
    """Return a relative address of a file; no text becomes a scheme or leaves the attribute."""
    return quote(str(place), safe="/")


def _sort_key(value: Any) -> Markup:
    """Return the attribute by which a number is sorted; text is sorted as it is shown."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Markup("")
    return Markup(' data-key="{}"').format(f"{value!r}")
