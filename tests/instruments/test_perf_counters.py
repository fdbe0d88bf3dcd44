"""Counters of kernel and processor, on whatever machine this is."""

import errno
import mmap
import os
from typing import Any

import pytest

from agentbench_tui.instruments import perf_counters
from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.perf_counters import EVENTS, perf, perf_words, unavailable

PAGES = 300


def test_pages_that_are_touched_are_counted() -> None:
    missing = unavailable()
    if "page_faults" in missing:
        pytest.skip(missing["page_faults"])
    context: dict[str, Any] = {"loops": 1}
    with perf(context), mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(PAGES):
            memory[page * mmap.PAGESIZE] = 1
    assert set(context["perf"]) == set(EVENTS) - set(missing)
    assert PAGES <= context["perf"]["page_faults"] < 2 * PAGES


def test_counts_are_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([100, 700])
    monkeypatch.setattr(perf_counters, "EVENTS", {"instructions": (0, 1)})
    monkeypatch.setattr(perf_counters, "_open", lambda _: os.dup(0))
    monkeypatch.setattr(perf_counters, "_read", lambda _: next(counts))
    context: dict[str, Any] = {"loops": 3}
    with perf(context):
        pass
    assert context["perf"] == {"instructions": 200.0}


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOENT, "shows no such counter"),
        (errno.EACCES, "perf_event_paranoid is"),
        (errno.ENOSYS, "Function not implemented"),
    ],
)
def test_what_cannot_be_counted_says_why(
    monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refused(_: str) -> int:
        raise OSError(number, "Function not implemented")

    monkeypatch.setattr(perf_counters, "_open", refused)
    assert perf_words().startswith("perf counts nothing; not instructions, cycles")
    assert words in perf_words()
    with pytest.raises(NotAvailable, match=words), perf({}):
        pass
