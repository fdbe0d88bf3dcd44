"""A whole report that people pass on: the answer first, then the chapters that support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from agentbench_tui.presentation.report import Section, Table

Outcome = Literal["good", "bad", "open", "plain"]
"""What a verdict means for its reader: go ahead, do not, not decided, or no decision asked."""


class Verdict(msgspec.Struct, frozen=True):
    """The answer to the question that the report is about."""

    words: str
    """One sentence, which a reader may take away without reading on."""
    outcome: Outcome
    reasons: Sequence[str] = ()
    """Why, and what to know before acting on it; the most important first."""


class Chapter(msgspec.Struct, frozen=True):
    """A part of the report that can be linked to."""

    anchor: str
    """Its id in a page: lower-case letters and dashes."""
    title: str
    sections: Sequence[Section]
    is_detail: bool = False
    """Whether a short form of the report folds it."""
    is_long: bool = False
    """Whether a page folds it too, because few readers need its many tables."""


class PageLink(msgspec.Struct, frozen=True):
    """Another page of the folder that the report is written to."""

    words: str
    address: str
    """Relative to the page."""


class FullReport(msgspec.Struct, frozen=True):
    """What every format of a report renders.

    All texts may contain what an agent or a file says; a renderer makes them safe.
    """

    title: str
    about: Sequence[tuple[str, str]]
    """Facts for the head of the report: name → value, such as the run's id and its date."""
    verdict: Verdict
    chapters: Sequence[Chapter]
    document: Any
    """The JSON document behind it, as the command that prints it has it."""
    tables: Mapping[str, Table] = msgspec.field(default_factory=dict)
    """File name without ending → records, for a folder of CSV files."""
    contenders: Sequence[str] = ()
    """Names of what is measured, in the order in which charts give them colors."""
    links: Sequence[PageLink] = ()
    """Other pages of the same folder; empty for a report that is a single file."""
