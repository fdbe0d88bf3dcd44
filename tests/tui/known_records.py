"""What pages show besides runs, of known values: episodes of a market world, and training runs."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from stores import HOSTILE

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.runs.market_episode import SCHEMA

EPISODE: dict[str, Any] = {
    "schema": SCHEMA,
    "title": "two markets",
    "ticks": 5,
    "tick_s": 60,
    "instruments": [
        {"id": "m", "name": "rain", "kind": "market", "prices": [0.5, 0.6, 0.7, 0.8, 1.0],
         "resolved_tick": 4, "outcome": "yes"},
        {"id": "p", "name": "X-PERP", "kind": "perpetual", "prices": [50, 55, 45, 40, 40]},
    ],
    "equity": [100, 100, 101, 102, 104],
    "holdings": [
        {"tick": 1, "instrument": "m", "side": "yes", "amount": 10, "entry": 0.6},
        {"tick": 2, "instrument": "p", "side": "long", "amount": 1, "entry": 45},
        {"tick": 4, "instrument": "m", "side": "yes", "amount": 0, "entry": None},
    ],
    "said": [{"tick": 1, "where": "feed", "who": "trader", "text": HOSTILE + "it rains"}],
    "acts": [
        {"tick": 1, "method": "a2a.buyShares", "arguments": {"market": "m", "amount": 10},
         "ok": True, "result": "filled"},
        {"tick": 3, "method": "a2a.buyShares", "arguments": {"market": "z"},
         "ok": False, "result": "-32602: market: there is no z"},
    ],
}  # fmt: skip


def with_episodes(database: Path, copy: Path, *episodes: dict[str, Any]) -> Path:
    """A copy of the store in which the first answers of the first execution are these episodes."""
    with closing(connect_to_read(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.executemany(
            "UPDATE answers SET answer=? WHERE seq=(SELECT seq FROM answers"
            " WHERE execution_key=1 ORDER BY seq LIMIT 1 OFFSET ?)",
            [
                (msgspec.json.encode({"data": episode}).decode(), place)
                for place, episode in enumerate(episodes)
            ],
        )
        target.commit()
    return copy


@pytest.fixture(scope="session")
def played(varied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `varied`, one of whose answers is an episode."""
    return with_episodes(varied, tmp_path_factory.mktemp("market") / "store.db", EPISODE)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`old` and `new`, a file a seed: straight lines to 0.5 and 0.9; and a file of two runs."""
    root = tmp_path_factory.mktemp("training")
    for name, end in (("old", 0.5), ("new", 0.9)):
        (root / name).mkdir()
        for seed in range(5):
            rows: list[tuple[object, ...]] = [("step", "value", "seed")]
            rows += [(step, (end + seed / 100) * step / 10, seed) for step in range(11)]
            write(root / name / f"run-seed{seed}.csv", rows)
    both: list[tuple[object, ...]] = [("run", "step", "reward")]
    both += [(run, step, step) for run in ("[b]x[/b]", "y") for step in range(5)]
    write(root / "both.csv", both)
    return root


def write(path: Path, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
