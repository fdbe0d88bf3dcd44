"""An agent that replaces the functions of `time` does not change what is measured."""

from pathlib import Path

from processes import make_place


def test_an_agent_cannot_turn_the_clock_back(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    place.suite(3)
    (tmp_path / "turning.py").write_text(
        "import itertools, time\n"
        "back = itertools.count(10**15, -(10**12))\n"
        "def answer(prompt):\n"
        "    time.perf_counter_ns = lambda: next(back)\n"
        "    time.perf_counter = time.monotonic = lambda: next(back) / 1e9\n"
        "    return prompt\n"
    )
    ended = place.run("run", "suite.json", "--no-ui", "--agent", "it=python:turning.py:answer")
    assert ended.returncode == 0, ended.stderr
    times = place.rows("SELECT e2e_ms, sent_ms FROM answers")
    assert len(times) == 3
    assert all(0 <= time_ms < 60_000 for row in times for time_ms in row)
    assert all(0 <= seconds < 60 for (seconds,) in place.rows("SELECT asking_s FROM iterations"))
