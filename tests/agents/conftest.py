"""A model server in a process of its own, for the tests of this folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from openai_process import RunningServer, running_openai_server


@pytest.fixture(scope="module")
def model_server() -> Iterator[RunningServer]:
    with running_openai_server() as server:
        yield server
