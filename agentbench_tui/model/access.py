"""What a part of a stored plan does in addition to measuring: code it runs, files and addresses it
uses.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Verb = Literal[
    "runs", "reads", "writes into", "listens on", "sends questions to", "sends requests to", "uses"
]
"""`uses`: something that this version cannot read, so that it may do anything."""


class Access(NamedTuple):
    """One command, piece of code, file or address that a plan would use."""

    verb: Verb
    what: str
    """As written in the plan, with the folder that it is relative to if that matters."""


def in_folder(what: str, folder: str) -> str:
    """Return `what` with the folder that it runs in or is looked up in."""
    return f"{what} in {folder}" if folder else what
