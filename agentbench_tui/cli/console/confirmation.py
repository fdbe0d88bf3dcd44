"""Confirmation questions before an action that cannot be undone."""

from __future__ import annotations

import sys

import click

from agentbench_tui.model.errors import UsageError


def confirm(question: str, refusal: str) -> None:
    """Ask a question on a terminal, and abort unless the answer is yes.

    Raises UsageError with `refusal`, which names the option that answers the question, if standard
    input is not a terminal.
    """
    if not sys.stdin.isatty():
        raise UsageError(refusal)
    click.confirm(question, abort=True, err=True)
