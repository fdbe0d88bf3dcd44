"""The connection by which a session notices changes of its database."""

from pathlib import Path

import psutil

from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.transaction import write_once
from agentbench_tui.tui.store_watch import StoreWatch


def is_open(path: Path) -> bool:
    return str(path) in {one.path for one in psutil.Process().open_files()}


def test_a_watch_that_is_closed_opens_nothing_again(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "store.db"
    create_or_migrate(path)
    write_once(path, [lambda c: c.execute("INSERT INTO meta VALUES ('k', 'v')")])
    watch = StoreWatch(path)
    assert watch.changed()
    assert not watch.changed()
    assert is_open(path)

    watch.close()
    assert not watch.changed()
    assert not is_open(path)
