"""The only case of a benchmark whose kind has no dataset; its answers are the measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.answer import Case
from agentbench_tui.model.identity import content_hash
from agentbench_tui.store.datasets import add_dataset, dataset_key

if TYPE_CHECKING:
    import sqlite3


def one_case_dataset(connection: sqlite3.Connection, kind: str, name: str) -> int:
    """Return the key of the dataset whose only case has this name; write it if it is missing.

    Its hash is that of kind and name, so that every run of the benchmark shares it.
    """
    digest = content_hash([kind, name])
    known = dataset_key(connection, digest)
    if known is not None:
        return known
    case = msgspec.json.encode(Case(id=name, input=name)).decode()
    return add_dataset(connection, f"{kind} {name}", digest, [(name, case)])
