"""The part of a run's stored plan that documents need; the rest is not decoded.

The plan of a sweep has thousands of groups, so most of each group stays raw.
"""

from __future__ import annotations

from typing import Any

import msgspec


class StoredAgent(msgspec.Struct, frozen=True):
    """The agent of an execution."""

    hourly_price_usd: Any = None


class StoredContinued(msgspec.Struct, frozen=True):
    """What an execution of a rerun continues, as in `engine.run.plan.Continued`."""

    execution_id: str
    asked: list[tuple[str, int, int]] = []
    attempt: int = 1


class StoredExecution(msgspec.Struct, frozen=True):
    """One agent on one benchmark."""

    id: str
    agent: StoredAgent = StoredAgent()
    continued: StoredContinued | None = None


class StoredDataset(msgspec.Struct, frozen=True):
    """Where the cases of a benchmark come from."""

    fields: dict[str, Any] | None = None
    """Field of a case → path in the record."""


class StoredBenchmark(msgspec.Struct, frozen=True):
    """A benchmark at one point."""

    kind: str | None = None
    constraints: Any = None
    dataset: StoredDataset | None = None
    scorers: tuple[Any, ...] = ()

    @property
    def metadata_fields(self) -> list[str]:
        """Fields of the cases by which results can be broken down, as the suite maps them."""
        fields = (self.dataset and self.dataset.fields) or {}
        prefix = "metadata."
        return [name.removeprefix(prefix) for name in fields if name.startswith(prefix)]


class StoredGroup(msgspec.Struct, frozen=True):
    """One benchmark at one point, with its executions."""

    benchmark: msgspec.Raw
    executions: tuple[StoredExecution, ...]

    def read(self) -> StoredBenchmark:
        return _read(self.benchmark)

    def document(self) -> dict[str, Any]:
        """Return the whole benchmark, as JSON of `model.suite.Benchmark`."""
        document: dict[str, Any] = msgspec.json.decode(self.benchmark)
        return document


class StoredSuiteDocument(msgspec.Struct, frozen=True):
    """A suite as its file has it."""

    gates: Any = ()


class StoredSuite(msgspec.Struct, frozen=True):
    """A suite of a plan."""

    document: StoredSuiteDocument = StoredSuiteDocument()


class StoredPlan(msgspec.Struct, frozen=True):
    """The plan of a run stored by this version or an earlier one."""

    groups: tuple[StoredGroup, ...]
    remarks: list[str] = []
    cost_limit_usd: Any = None
    token_limit: Any = None
    gates: Any = ()
    suites: tuple[StoredSuite, ...] = ()

    @property
    def has_gates(self) -> bool:
        """Whether gates were given on the command line or by a suite."""
        return bool(self.gates) or any(one.document.gates for one in self.suites)

    rerun_of: str = ""


_read = msgspec.json.Decoder(StoredBenchmark).decode
_decode = msgspec.json.Decoder(StoredPlan).decode


def read_plan(text: str) -> StoredPlan:
    """Decode the column `plan` of a run."""
    return _decode(text)
