"""A store that every test of reports reads."""

from pathlib import Path

import pytest
from hostile_run import store_hostile_run


@pytest.fixture(scope="session")
def hostile_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the run of `hostile_run`."""
    path = tmp_path_factory.mktemp("hostile") / "store.db"
    store_hostile_run(path)
    return path
