"""The kind `experiment`: what is measured, in which order, and what is kept of failures."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from importlib import metadata
from pathlib import Path

import pytest
import workloads
from measuring import answers, measured, planned, rows

from agentbench_tui.engine.run.turns import in_turn
from agentbench_tui.experiments.results import results_of
from agentbench_tui.model.errors import SuiteError


async def test_what_iterations_return_becomes_metrics_with_units(tmp_path: Path) -> None:
    plan = planned("Counting", tmp_path, repeats=2, agents=["ten=variant?size=10"])
    outcome = await measured(plan, tmp_path)
    assert outcome.status == "complete"
    found = {
        name: (value, unit, n)
        for name, value, unit, n in rows(tmp_path, "SELECT name, value, unit, n FROM metrics")
    }
    assert found["found"] == (45.0, "", 6)  # 0 + 1 + … + 9
    assert found["rates.items_per_s"] == (20.0, "1/s", 6)
    assert found["reliability"][0] == 1.0
    assert found["e2e_ms.p50"][2] == 6
    assert found["cost_usd"][0] is None


async def test_variants_are_interleaved_in_blocks_each_at_each_place_alike(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    plan = planned(
        "Counting", tmp_path, parameters={"log": str(log)},
        agents=["a=variant?size=1", "b=variant?size=2", "c=variant?size=3"],
        iterations={"warmup": 0, "measured": 12},
    )  # fmt: skip
    await measured(plan, tmp_path)
    done = [line.split() for line in log.read_text().splitlines()]
    order = [(name, int(nth)) for name, nth, *_ in (one for one in done if len(one) == 3)]
    blocks = [order[at : at + 3] for at in range(0, len(order), 3)]
    assert len(blocks) == 12
    for nth, block in enumerate(blocks):
        assert sorted(block) == [("a", nth), ("b", nth), ("c", nth)]
    for first in range(0, 12, 3):
        for place in range(3):
            assert {block[place][0] for block in blocks[first : first + 3]} == {"a", "b", "c"}


async def test_a_failing_iteration_leaves_its_error_and_its_siblings(tmp_path: Path) -> None:
    log = tmp_path / "log"
    plan = planned(
        "Counting", tmp_path, parameters={"log": str(log)},
        agents=["bad=variant?fail_at=1", "good=variant?size=7"],
    )  # fmt: skip
    outcome = await measured(plan, tmp_path)
    assert outcome.status == "incomplete"
    assert [one["data"]["found"] for one in answers(tmp_path, "bad")] == [4950, 4950]
    assert len(answers(tmp_path, "good")) == 3
    details = rows(tmp_path, "SELECT stage, kind, detail, iteration FROM failures")
    assert [(stage, kind, nth) for stage, kind, _, nth in details] == [("answer", "agent", 1)]
    assert "ValueError: planted (workloads.py:" in details[0][2]
    status = dict(rows(tmp_path, "SELECT agent_id, status FROM benchmark_executions"))
    assert status == {"bad": "incomplete", "good": "complete"}
    by_status = Counter(
        row[0] for row in rows(tmp_path, "SELECT status FROM iterations WHERE NOT warmup")
    )
    assert by_status == {"ok": 5, "failed": 1}
    assert sum("teardown" in line for line in log.read_text().splitlines()) == 2


async def test_what_is_half_set_up_is_torn_down_and_the_others_go_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    plan = planned(
        "Counting", tmp_path, parameters={"log": str(log)},
        agents=["bad=variant?fail_setup=true", "good=variant?size=7"],
    )  # fmt: skip
    await measured(plan, tmp_path)
    assert answers(tmp_path, "bad") == []
    assert len(answers(tmp_path, "good")) == 3
    assert sum("teardown" in line for line in log.read_text().splitlines()) == 2
    ((reason,),) = rows(
        tmp_path, "SELECT stop_reason FROM benchmark_executions WHERE agent_id='bad'"
    )
    assert reason.startswith("set-up failed: RuntimeError: no room to set up")


async def test_a_tear_down_that_fails_is_told_and_keeps_what_was_measured(tmp_path: Path) -> None:
    plan = planned(
        "Counting", tmp_path, repeats=2, agents=["bad=variant?fail_teardown=true", "good=variant"]
    )
    outcome = await measured(plan, tmp_path)
    assert outcome.status == "incomplete"
    assert len(answers(tmp_path, "bad")) == 6
    status = {
        agent: (status, reason)
        for agent, status, reason in rows(
            tmp_path, "SELECT agent_id, status, stop_reason FROM benchmark_executions"
        )
    }
    assert status["good"] == ("complete", None)
    assert status["bad"][0] == "incomplete"
    assert status["bad"][1].startswith("tear-down failed: RuntimeError: nothing to tear down")


async def test_variants_that_are_effectively_equal_are_not_measured(tmp_path: Path) -> None:
    said: list[str] = []
    outcome = await measured(planned("Pragma", tmp_path), tmp_path, said)
    assert outcome.status == "incomplete"
    reasons = dict(rows(tmp_path, "SELECT agent_id, stop_reason FROM benchmark_executions"))
    equal = (
        "variants yes and off are effectively equal (setting=False):"
        " what they change does not take effect"
    )
    assert reasons == {"on": None, "yes": equal, "off": equal}
    assert equal in said
    assert len(answers(tmp_path, "on")) == 3
    assert answers(tmp_path, "off") == []


async def test_each_repeat_has_a_process_of_its_own_where_it_asks(tmp_path: Path) -> None:
    log = tmp_path / "log"
    plan = planned(
        "Counting", tmp_path, repeats=2, parameters={"log": str(log)}, fresh_process=True,
        agents=["a=variant"],
    )  # fmt: skip
    await measured(plan, tmp_path)
    pids = {line.split()[-1] for line in log.read_text().splitlines()}
    assert len(pids) == 2
    places = rows(tmp_path, "SELECT repeat, iteration FROM answers ORDER BY 1, 2")
    assert places == [(repeat, nth) for repeat in range(2) for nth in range(3)]


async def test_a_process_that_ends_costs_one_iteration(tmp_path: Path) -> None:
    plan = planned("Ending", tmp_path, fresh_process=True, agents=["a=variant"])
    await measured(plan, tmp_path)
    kinds = rows(tmp_path, "SELECT iteration, failure_kind FROM answers ORDER BY 1")
    assert [(nth, kind is None) for nth, kind in kinds] == [(0, True), (1, False), (2, True)]
    first, last = (one["data"]["pid"] for one in answers(tmp_path, "a"))
    assert first != last


async def test_a_call_that_takes_too_long_is_ended_with_its_process(tmp_path: Path) -> None:
    plan = planned(
        "Hanging", tmp_path, fresh_process=True, constraints={"time_limit_ms": 300.0},
        iterations={"warmup": 0, "measured": 3},
    )  # fmt: skip
    await measured(plan, tmp_path)
    kinds = rows(tmp_path, "SELECT iteration, failure_kind FROM answers ORDER BY 1")
    assert kinds == [(0, None), (1, "timeout"), (2, None)]


@pytest.mark.parametrize("fresh_process", [True, False])
async def test_a_set_up_that_does_not_end_is_given_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_process: bool
) -> None:
    monkeypatch.setattr(
        "agentbench_tui.experiments.measuring.variant_measurement.LEAST_UNTIMED_S", 0.2
    )
    log = tmp_path / "log"
    plan = planned(
        "Stuck", tmp_path, repeats=2, parameters={"log": str(log)}, fresh_process=fresh_process,
        constraints={"time_limit_ms": 1.0}, agents=["a=variant"],
    )  # fmt: skip
    await measured(plan, tmp_path)
    ((reason,),) = rows(tmp_path, "SELECT stop_reason FROM benchmark_executions")
    assert reason == "set-up failed: not done within 0.2 s"
    assert not log.exists() or log.read_text().split() == ["a"]


async def test_a_warm_up_that_does_not_end_is_given_up_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    plan = planned(
        "Stuck", tmp_path, parameters={"log": str(log), "where": "call"}, fresh_process=True,
        constraints={"time_limit_ms": 50.0}, agents=["a=variant"],
    )  # fmt: skip
    await measured(plan, tmp_path)
    ((reason,),) = rows(tmp_path, "SELECT stop_reason FROM benchmark_executions")
    assert reason == "warm-up failed: no answer within 0.1 s"
    assert rows(tmp_path, "SELECT seq FROM answers") == []
    assert log.read_text().split() == ["a"]


async def test_a_run_that_is_asked_to_end_waits_for_no_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.experiments.measuring.variant_measurement.GRACE_S", 0.0)
    log = tmp_path / "log"
    plan = planned(
        "Stuck", tmp_path, parameters={"log": str(log), "ends": os.getpid()}, fresh_process=True,
        agents=["b=variant?where=call", "a=variant"],
    )  # fmt: skip
    assert in_turn("ba", plan.groups[0].seed_of_turns, 0) == ["a", "b"]
    outcome = await measured(plan, tmp_path)
    assert outcome.status == "interrupted"
    assert log.read_text().split() == ["a"]


async def test_nothing_that_it_returns_stands_in_for_the_measured_time(tmp_path: Path) -> None:
    plan = planned("Claiming", tmp_path)
    await measured(plan, tmp_path)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        (result,) = results_of(connection, plan.run_id, tmp_path)
    assert result.metrics["duration_s"]["mean"] == pytest.approx(
        sum(one["duration_s"] for one in result.iteration_metrics) / 3
    )
    given = {name: one["mean"] for name, one in result.metrics.items() if name != "duration_s"}
    assert given == {"reported.duration_s": -7.0, "read.p50_ms": 3.0, "found": 1.0}
    stored = dict(rows(tmp_path, "SELECT name, value FROM metrics"))
    assert given.items() <= stored.items()


async def test_what_is_never_a_number_is_told_as_not_known(tmp_path: Path) -> None:
    await measured(planned("Unknowing", tmp_path, agents=["a=variant"]), tmp_path)
    stored = rows(tmp_path, "SELECT name, value, reason FROM metrics WHERE name NOT LIKE 'e2e_ms%'")
    found = {name: (value, reason) for name, value, reason in stored}
    assert found["lost_ms"] == (None, "no iteration gave a number")
    assert found["reported.e2e_ms"] == (None, "no iteration gave a number")
    assert found["rare"][0] == 2.0


async def test_it_stops_early_once_the_time_is_known_well_enough(tmp_path: Path) -> None:
    plan = planned(
        "Counting", tmp_path, agents=["a=variant"], iterations={"warmup": 1, "measured": 50},
        early_stop={"metric": "e2e_ms.p50", "half_width": 1e9},
    )  # fmt: skip
    outcome = await measured(plan, tmp_path)
    assert outcome.status == "complete"
    ((reason,),) = rows(tmp_path, "SELECT stop_reason FROM benchmark_executions")
    assert reason.startswith("precise enough: e2e_ms.p50 within")
    assert len(answers(tmp_path, "a")) == 5  # the fewest that may decide


async def test_async_experiments_have_one_loop_from_set_up_to_tear_down(tmp_path: Path) -> None:
    outcome = await measured(planned("Waiting", tmp_path), tmp_path)
    assert outcome.status == "complete"
    assert [one["data"]["same_loop"] for one in answers(tmp_path, "code")] == [True] * 3
    assert rows(tmp_path, "SELECT detail FROM failures") == []


async def test_profilers_take_passes_of_their_own(tmp_path: Path) -> None:
    said: list[str] = []
    plan = planned(
        "Counting", tmp_path, instruments=["cprofile", {"tracemalloc": {"top_n": 3}}],
        agents=["a=variant"],
    )  # fmt: skip
    await measured(plan, tmp_path, said)
    assert len(answers(tmp_path, "a")) == 3
    folder = tmp_path / "experiments" / plan.run_id / "000-a-0"
    assert {path.name for path in folder.iterdir()} == {
        "cprofile.prof",
        "cprofile.json",
        "tracemalloc.json",
    }
    assert any(line.startswith("a: tracemalloc: ") and "peak_bytes" in line for line in said)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("pyinstrument", {"pyinstrument.txt", "pyinstrument.speedscope.json"}),
        ("memray", {"memray.bin"}),
    ],
)
async def test_profilers_of_the_extra_take_passes_of_their_own(
    tmp_path: Path, name: str, files: set[str]
) -> None:
    pytest.importorskip(name)
    said: list[str] = []
    plan = planned("Counting", tmp_path, instruments=[name], agents=["a=variant?size=50000"])
    outcome = await measured(plan, tmp_path, said)
    assert outcome.status == "complete"
    assert len(answers(tmp_path, "a")) == 3
    folder = tmp_path / "experiments" / plan.run_id / "000-a-0"
    assert {path.name for path in folder.iterdir()} == files
    assert any(line.startswith(f"a: {name}: ") and " ms under it" in line for line in said)


async def test_a_profiler_that_is_not_installed_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "memray", None)
    said: list[str] = []
    plan = planned("Counting", tmp_path, instruments=["memray"], agents=["a=variant"])
    await measured(plan, tmp_path, said)
    told = [*said, *(str(row) for row in rows(tmp_path, "SELECT detail FROM failures"))]
    assert any("agentbench-tui[profile]" in line for line in told), told


async def test_instruments_of_plugins_write_beside_the_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = metadata.EntryPoint(
        "fds", f"{workloads.__name__}:descriptors", "agentbench.instruments"
    )
    monkeypatch.setattr(
        metadata,
        "entry_points",
        lambda **select: metadata.EntryPoints([point]).select(**select),
    )
    plan = planned(
        "Counting", tmp_path, instruments=[{"fds": {"scale": 2.0}}], agents=["a=variant"]
    )
    await measured(plan, tmp_path)
    (value,) = rows(tmp_path, "SELECT value FROM metrics WHERE name='descriptors.open'")
    assert value == (6.0,)
    for one in answers(tmp_path, "a"):
        assert one["metadata"]["instruments"] == {"descriptors": {"open": 6.0}}
        assert one["metadata"]["instruments_ms"] > 0


async def test_a_run_without_artifacts_leaves_no_folder(tmp_path: Path) -> None:
    await measured(planned("Counting", tmp_path), tmp_path)
    assert not (tmp_path / "experiments").exists()


async def test_what_is_committed_is_not_measured_again(tmp_path: Path) -> None:
    from agentbench_tui.engine.run.coordinator import carry_out

    log = tmp_path / "log"
    plan = planned(
        "Counting", tmp_path, parameters={"log": str(log)}, agents=["a=variant?fail_at=1"]
    )
    await measured(plan, tmp_path)
    before = rows(tmp_path, "SELECT seq, iteration FROM answers ORDER BY seq")
    log.unlink()
    await carry_out(plan, tmp_path / "runs.db", resume=True)
    assert rows(tmp_path, "SELECT seq, iteration FROM answers ORDER BY seq") == before


@pytest.mark.parametrize(
    ("benchmark", "message"),
    [
        ({"parameters": {"sise": 1}}, 'there is no parameter "sise" (did you mean "size"?)'),
        ({"parameters": {"mode": "heap"}}, "parameter `mode`: input should be 'list' or 'set'"),
        ({"sweep": {"parameters": {"size": [1, "x"]}}}, "parameter `size`"),
        ({"experiment": "memory_bd_"}, "no experiment is called `memory_bd_`"),
        ({"scorers": ["exact"]}, "`scorers` does not belong to benchmarks of kind experiment"),
    ],
)
def test_a_wrong_suite_is_told_before_it_runs(
    tmp_path: Path, benchmark: dict[str, object], message: str
) -> None:
    with pytest.raises(SuiteError) as raised:
        planned("Counting", tmp_path, **benchmark)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("benchmark", "place", "message"),
    [
        ({"sweep": {"parameters": {"size": ["x", 1], "mode": ["set"]}}},
         "sweep.parameters.size", "parameter `size`"),
        ({"sweep": {"parameters": {"mode": ["set"], "sise": [1]}}},
         "sweep.parameters.sise", 'there is no parameter "sise"'),
        ({"parameters": {"size": "x"}, "sweep": {"parameters": {"mode": ["set", "list"]}}},
         "parameters", "parameter `size`"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_sweep_is_told_once_and_where_it_stands(
    tmp_path: Path, benchmark: dict[str, object], place: str, message: str
) -> None:
    with pytest.raises(SuiteError) as raised:
        planned("Counting", tmp_path, **benchmark)
    assert str(raised.value).count(message) == 1
    assert f"benchmarks.0.{place}: {message}" in str(raised.value)


async def test_what_each_call_needs_anew_is_laid_out_before_it(tmp_path: Path) -> None:
    await measured(planned("Refilled", tmp_path), tmp_path)
    found = answers(tmp_path, "code")
    assert [one["data"]["taken"] for one in found] == [3, 3, 3]
    assert {one["metadata"]["loops"] for one in found} == {1}
