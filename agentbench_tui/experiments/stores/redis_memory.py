"""`redis_memory`: agents' memories in Redis: written, read, searched, batched and pruned."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.stores.redis_client import (
    Command,
    Commands,
    EmbeddedTable,
    RedisServer,
)
from agentbench_tui.model.clock import perf_counter
from agentbench_tui.model.errors import AgentbenchError

ACTIONS = ("move", "gather", "share", "attack", "defend", "reproduce", "rest", "wait")
SIDE = 100.0
SEARCHES = 20
WINDOW = 11
EMBEDDED = "embedded table in this process (not Redis)"


class NoRedis(AgentbenchError):
    """Raised when the experiment requires Redis and it is missing."""


@register_experiment("redis_memory")
class RedisMemory(Experiment):
    """Measures agents' memories in Redis: written one by one and in batches, read, searched,
    pruned.

    A server is started for it. Where there is no redis-server a table embedded in this process
    takes its place, and the settings in force name it as what it is. Single writes and batches
    store the same entries in the same form. Every stage goes over all agents; a search looks
    through the whole memory of one.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        backend: Literal["auto", "redis", "embedded"] = Field(
            "auto", description="`auto`: redis if there is a redis-server, else embedded."
        )
        num_agents: int = Field(10, ge=1)
        memory_entries: int = Field(100, ge=2, description="Of each agent.")
        batch_size: int = Field(100, ge=1, description="Entries in a round trip.")
        search_radius: float = Field(10.0, gt=0, description="In a world of 100 × 100.")
        memory_limit: int = Field(50, ge=1, description="Entries an agent keeps when pruned.")
        ttl: int = Field(3600, ge=1, description="Seconds until an entry expires.")

    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "write_per_s": "higher",
        "batch_write_per_s": "higher",
        "read_per_s": "higher",
        "search_per_s": "higher",
        "cleanup_s": "lower",
        "bytes_per_entry": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("memory", "redis")

    def setup(self, context: ExperimentContext) -> None:
        self._server: RedisServer | None = None
        self._commands: Commands = self._open(self.params["backend"])
        draw = random.Random(context.seed)  # noqa: S311  # entries, not secrets
        agents, entries = range(self.params["num_agents"]), range(self.params["memory_entries"])
        self._entries = [(one, step, _entry(draw, step)) for one in agents for step in entries]
        self._places = [(draw.uniform(0, SIDE), draw.uniform(0, SIDE)) for _ in range(SEARCHES)]
        self._reads = [(agent, step) for agent, step, _ in self._entries]
        draw.shuffle(self._reads)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        run, count = self._commands.execute, len(self._entries)
        run(("FLUSHDB",))
        empty = self._used_bytes()
        write_s, _ = _timed(self._write_singly)
        full = self._used_bytes()
        read_s, found = _timed(self._read)
        search_s, hits = _timed(self._search)
        cleanup_s, removed = _timed(self._prune)
        run(("FLUSHDB",))
        batch_s, _ = _timed(self._write_batches)
        metrics = {
            "write_per_s": count / write_s,
            "batch_write_per_s": count / batch_s,
            "read_per_s": count / read_s,
            "search_per_s": SEARCHES / search_s,
            "cleanup_s": cleanup_s,
            "entries": count,
            "read_entries": found,
            "search_hits": hits,
            "removed_entries": removed,
        }
        if full is not None and empty is not None:
            metrics["bytes_per_entry"] = (full - empty) / count
        return metrics

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        if hasattr(self, "_commands"):
            self._commands.close()
        if getattr(self, "_server", None) is not None:
            assert self._server is not None
            self._server.stop()

    def effective(self, context: ExperimentContext) -> Mapping[str, Any]:  # noqa: ARG002
        backend = f"redis {self._server.version}" if self._server else EMBEDDED
        return {**self.params, "backend": backend}

    def _open(self, backend: str) -> Commands:
        if backend == "embedded":
            return EmbeddedTable()
        try:
            self._server = RedisServer()
        except FileNotFoundError as error:
            if backend == "auto":
                return EmbeddedTable()
            raise NoRedis(f"{error}: install it, or set backend: embedded") from error
        return self._server.connect()

    def _write_singly(self) -> int:
        """Write one entry per round trip."""
        for agent, step, text in self._entries:
            self._commands.execute(*self._stored(agent, step, text))
        return len(self._entries)

    def _write_batches(self) -> int:
        size = self.params["batch_size"]
        for start in range(0, len(self._entries), size):
            batch = self._entries[start : start + size]
            self._commands.execute(*(part for one in batch for part in self._stored(*one)))
        return len(self._entries)

    def _stored(self, agent: int, step: int, text: bytes) -> tuple[Command, Command]:
        key = f"agent:{agent}:{step}"
        return ("SET", key, text, "EX", self.params["ttl"]), ("ZADD", f"agent:{agent}", step, key)

    def _read(self) -> int:
        """Read every entry once in random order, one per round trip; return their number."""
        found = 0
        for agent, step in self._reads:
            (text,) = self._commands.execute(("GET", f"agent:{agent}:{step}"))
            found += text is not None and json.loads(text)["step"] == step
        return found

    def _search(self) -> int:
        """Find all memories of an agent near a place; return their number over all searches."""
        hits = 0
        for nth, (x, y) in enumerate(self._places):
            key = f"agent:{nth % self.params['num_agents']}"
            (members,) = self._commands.execute(("ZRANGE", key, 0, -1))
            (texts,) = self._commands.execute(("MGET", *(one.decode() for one in members)))
            for text in texts:
                state = json.loads(text)["state"]
                away = math.hypot(state["x"] - x, state["y"] - y)
                hits += away <= self.params["search_radius"]
        return hits

    def _prune(self) -> int:
        """Delete the oldest memories of every agent beyond the limit; return their number."""
        removed = 0
        for agent in range(self.params["num_agents"]):
            key = f"agent:{agent}"
            (held,) = self._commands.execute(("ZCARD", key))
            surplus = held - self.params["memory_limit"]
            if surplus > 0:
                (oldest,) = self._commands.execute(("ZRANGE", key, 0, surplus - 1))
                gone, _ = self._commands.execute(
                    ("DEL", *(one.decode() for one in oldest)),
                    ("ZREMRANGEBYRANK", key, 0, surplus - 1),
                )
                removed += gone
        return removed

    def _used_bytes(self) -> int | None:
        """Return the server's reported memory; None for the embedded replacement."""
        if self._server is None:
            return None
        info = self._commands.execute(("INFO", "memory"))[0].decode()
        return int(info.partition("used_memory:")[2].split()[0])


def _entry(draw: random.Random, step: int) -> bytes:
    """Return one memory: state, perception, action and reward."""
    return json.dumps(
        {
            "step": step,
            "state": {"x": draw.uniform(0, SIDE), "y": draw.uniform(0, SIDE),
                      "health": draw.random(), "energy": draw.uniform(0, 20)},
            "perception": [[draw.randrange(3) for _ in range(WINDOW)] for _ in range(WINDOW)],
            "action": draw.choice(ACTIONS),
            "reward": draw.uniform(-1, 1),
            "priority": draw.random(),
        }
    ).encode()  # fmt: skip


def _timed(stage: Callable[[], int]) -> tuple[float, int]:
    """Return the seconds of a stage, and its result."""
    began = perf_counter()
    found = stage()
    return perf_counter() - began, found
