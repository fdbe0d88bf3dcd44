"""Stores that several tests of reports read."""

from pathlib import Path

import pytest
from hostile_run import store_hostile_run
from market_run import play_market


@pytest.fixture(scope="session")
def hostile_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the run of `hostile_run`."""
    path = tmp_path_factory.mktemp("hostile") / "store.db"
    store_hostile_run(path)
    return path


@pytest.fixture(scope="session")
def market_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the database `a.db` of a run of market worlds and its report folder `out`."""
    path = tmp_path_factory.mktemp("market")
    play_market(path / "a.db", path / "out")
    return path
