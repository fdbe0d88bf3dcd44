"""Memory pressure: what a target takes and keeps, ballast beside it, and limits on it."""

from typing import Any

import numpy as np
import pytest
from scripted_stand import Answered, Notebook, ScriptedStand, normal_load

from agentbench_tui.stress.faults.ballast import Ballast, Held
from agentbench_tui.stress.faults.host_memory import HostMemory
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.scenarios import memory_pressure
from agentbench_tui.stress.scenarios.memory_pressure import (
    levels_of,
    limit_between,
    memory_facts,
    run,
)
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.window_plan import WindowPlan

GIB = 1 << 30
URL = "http://127.0.0.1:9/v1"


class Eater:
    """Takes so much for each user more, keeps a share of it, and fails where it is told to."""

    def __init__(self, mb_per_user: float, kept: float = 0.0, fails: str = "") -> None:
        self.mb_per_user, self.kept, self.fails = mb_per_user, kept, fails
        self.most_mb = 0.0

    def __call__(self, course: WindowPlan, phase: str, due_s: Any) -> Answered:
        users = course.users or 0
        extra = self.mb_per_user * users
        self.most_mb = max(self.most_mb, extra)
        held = 100 + max(extra, self.kept * self.most_mb)
        readings = [(share * course.length_s, held) for share in (0.1, 0.6, 0.9)]
        ok = np.full(len(due_s), phase != self.fails)
        return Answered(ok, np.full(len(due_s), 25.0), readings)


class Server:
    """Ours; killed in a window when it was told of a limit below what it needs."""

    def __init__(self, needs_mb: float) -> None:
        self.pids: tuple[int, ...] = (1,)
        self.needs_mb = needs_mb
        self.log: list[str] = []
        self.over_limit: str | None = None

    def limit_memory(self, memory_limit_mb: float | None) -> None:
        self.log.append(f"limit {memory_limit_mb}")
        if memory_limit_mb is not None and memory_limit_mb < self.needs_mb:
            self.over_limit = f"used {self.needs_mb:g} MB of {memory_limit_mb:g} MB"

    async def kill(self) -> None:
        raise NotImplementedError

    async def restart(self) -> None:
        self.log.append("restart")
        self.over_limit = None
        self.pids = (2,)


class Weightless:
    """Ballast that takes nothing."""

    now = Held(0, 1 << 40, GIB)

    async def __aenter__(self) -> "Weightless":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def hold(self, megabytes: float) -> Held:
        held = round(megabytes * 1e6)
        return Held(held, held, GIB)


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided by this machine's memory is decided for one with 8 GiB, 4 of them free."""
    monkeypatch.setattr(memory_pressure, "read_host_memory", lambda: HostMemory(8 * GIB, 4 * GIB))
    monkeypatch.setattr(memory_pressure, "Ballast", Weightless)


async def pressed(stand: ScriptedStand, **more: Any) -> ScenarioReport:
    notebook = Notebook("memory_pressure")
    spec = StressSpec(scenario="memory_pressure", **{"ballast_mb": 64, **more})
    await run(stand.typed, spec, normal_load(), notebook)
    return notebook.report


def phases(stand: ScriptedStand) -> list[str]:
    return [phase for _, phase in stand.held]


async def test_what_users_cost_and_what_is_given_back() -> None:
    stand = ScriptedStand(Eater(2.0), url=URL)
    found = (await pressed(stand)).observations
    assert found["memory_mb_per_user"] == pytest.approx(2.0)
    assert found["memory_mb_at_16_users"] == 132
    assert (found["memory_before_mb"], found["memory_peak_mb"]) == (100, 140)
    assert (found["memory_after_mb"], found["memory_kept_mb"]) == (100, 0)
    assert "+2 MB for each user more" in str(found["memory_words"])


async def test_what_is_kept() -> None:
    found = (await pressed(ScriptedStand(Eater(2.0, kept=0.75), url=URL))).observations
    assert found["memory_kept_mb"] == pytest.approx(0.75 * 40)
    assert found["memory_taken_mb"] == 40


async def test_windows_of_normal_load_before_and_after() -> None:
    stand = ScriptedStand(Eater(1.0), url=URL)
    await pressed(stand)
    assert phases(stand) == ["normal", *["users"] * 5, "recovery", "ballast", "recovery"]
    assert [course.users for course, phase in stand.held if phase == "users"] == [2, 4, 8, 16, 20]
    assert {course.rate for course, phase in stand.held if phase != "users"} == {20.0}


async def test_ballast_is_there_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_pressure, "Ballast", Ballast)
    report = await pressed(ScriptedStand(Eater(1.0), url=URL))
    assert report.observations["ballast_mb"] == pytest.approx(64, abs=0.1)
    assert float(report.observations["left_beside_ballast_mb"]) > 0
    assert report.score is not None
    assert report.score.value == 100


async def test_ballast_that_had_to_be_let_go_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Weightless, "now", Held(64_000_000, 32_000_000, GIB))
    report = await pressed(ScriptedStand(Eater(1.0), url=URL))
    assert report.observations["ballast_mb_at_end"] == 32


async def test_failing_under_ballast_lowers_the_score() -> None:
    report = await pressed(ScriptedStand(Eater(1.0, fails="ballast"), url=URL))
    assert report.score is not None
    assert report.score.value == pytest.approx(100 * 2 / 3, abs=1)  # one of three windows


@pytest.mark.parametrize(
    ("counts", "why"),
    [((7, 8), "by the kernel, out of memory"), ((7, 7), "nobody says why")],
)
async def test_a_server_that_ends_under_ballast_is_started_again(
    counts: tuple[int, int], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, told = Server(needs_mb=1), iter(counts)

    class Ends(ScriptedStand):
        async def hold(self, course: WindowPlan, *, phase: str) -> Any:
            if phase == "ballast":
                assert course.may_die
                server.pids = ()
            return await super().hold(course, phase=phase)

    monkeypatch.setattr(memory_pressure, "oom_kills", lambda: next(told))
    report = await pressed(Ends(Eater(0.1), url=URL, owned=server))
    assert report.observations["ended_under_ballast"] == why
    assert server.log == ["restart"]
    (recovery,) = report.recoveries
    assert (recovery.after, recovery.seconds is not None) == ("ballast", True)


async def test_no_ballast_for_a_target_elsewhere() -> None:
    report = await pressed(ScriptedStand(Eater(1.0), url="http://192.0.2.1/v1"))
    assert "another machine" in report.missing["ballast"]
    assert "serve" in report.missing["memory limit"]


async def test_no_ballast_where_nothing_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    little = HostMemory(8 * GIB, int(1.22 * GIB))  # 15% of 8 GiB are 1.2
    monkeypatch.setattr(memory_pressure, "read_host_memory", lambda: little)
    report = await pressed(ScriptedStand(Eater(1.0), url=URL), ballast_mb=None)
    assert "1288 MB are always left" in report.missing["ballast"]


async def test_memory_that_nobody_sees_is_missing() -> None:
    def unseen(course: WindowPlan, phase: str, due_s: Any) -> Answered:
        return Answered(np.ones(len(due_s)), np.full(len(due_s), 25.0))

    report = await pressed(ScriptedStand(unseen, url=URL))
    assert "not on this machine" in report.missing["memory"]
    assert "memory_peak_mb" not in report.observations
    inside = await pressed(ScriptedStand(unseen, scheme="python"))
    assert "inside the senders" in inside.missing["memory"]


async def test_a_server_that_its_limit_kills_is_started_again() -> None:
    server = Server(needs_mb=140)
    stand = ScriptedStand(Eater(2.0), url=URL, owned=server)
    report = await pressed(stand)
    # Halfway between 104 MB at 2 users and 140 at 20.
    assert server.log == ["limit 122.0", "limit None", "restart"]
    assert report.observations["killed_by_limit"] is True
    assert report.observations["over_limit"] == "used 140 MB of 122 MB"
    (recovery,) = report.recoveries
    assert recovery.after == "memory limit"
    assert recovery.seconds is not None
    assert "killed when it used 140 MB of 122 MB; started again" in recovery.words
    assert phases(stand)[-2:] == ["limit", "recovery"]
    assert stand.held[-2][0].may_die


async def test_a_server_that_keeps_its_limit() -> None:
    server = Server(needs_mb=140)
    report = await pressed(ScriptedStand(Eater(2.0), url=URL, owned=server), memory_limit_mb=500)
    assert server.log == ["limit 500.0", "limit None"]
    assert report.observations["killed_by_limit"] is False
    assert report.recoveries == []


async def test_the_limit_is_lifted_when_the_window_fails() -> None:
    class Fails(ScriptedStand):
        async def hold(self, course: WindowPlan, *, phase: str) -> Any:
            if phase == "limit":
                raise ZeroDivisionError
            return await super().hold(course, phase=phase)

    server = Server(needs_mb=140)
    with pytest.raises(ZeroDivisionError):
        await pressed(Fails(Eater(2.0), url=URL, owned=server))
    assert server.log[-1] == "limit None"


async def test_no_limit_lies_where_memory_hardly_grows() -> None:
    stand = ScriptedStand(Eater(0.1), url=URL, owned=Server(needs_mb=1))
    report = await pressed(stand)
    assert "hardly grows" in report.missing["memory limit"]


async def test_a_program_has_its_limit_from_the_start() -> None:
    stand = ScriptedStand(Eater(1.0), scheme="worker")
    assert "memory_limit_mb" in (await pressed(stand)).missing["memory limit"]
    found = (await pressed(stand, memory_limit_mb=300)).observations
    assert (found["memory_limit_mb"], found["requests_over_limit"]) == (300, 0)


async def test_an_agent_inside_the_senders_cannot_be_limited() -> None:
    report = await pressed(ScriptedStand(Eater(1.0), scheme="python"))
    assert "inside the senders" in report.missing["memory limit"]


@pytest.mark.parametrize(
    ("normal", "multiple", "most", "levels"),
    [
        (2, 10, 100, (2, 4, 8, 16, 20)),
        (16, 10, 100, (16, 32, 64, 100)),
        (1, 1, 100, (1,)),
        (50, 10, 8, (8,)),
        (1, 8, 100, (1, 2, 4, 8)),
    ],
)
def test_levels(normal: int, multiple: float, most: int, levels: tuple[int, ...]) -> None:
    assert levels_of(normal, multiple, most) == levels


def test_a_limit_between() -> None:
    assert limit_between({}) is None
    assert limit_between({1: 100.0, 8: 109.0}) is None
    assert limit_between({1: 100.0, 4: 180.0, 8: 120.0}) == 140


@pytest.mark.parametrize(
    ("asked", "free", "taken"),
    [(None, 1.0, 512), (None, 8.0, 2048), (3000.0, 8.0, 3000)],
)
async def test_how_much_ballast(
    asked: float | None, free: float, taken: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of what may be taken, and 2,048 MB at most, unless the suite says how much."""
    total = 100 * GIB
    memory = HostMemory(total, int(0.15 * total) + round(free * 1024e6))
    monkeypatch.setattr(memory_pressure, "read_host_memory", lambda: memory)
    report = await pressed(ScriptedStand(Eater(1.0), url=URL), ballast_mb=asked)
    assert report.observations["ballast_mb"] == pytest.approx(taken)


def test_what_no_user_adds_to_is_told_as_nothing() -> None:
    words = str(memory_facts(28.3, {1: 28.3, 2: 28.3, 8: 28.3}, 28.3)["memory_words"])
    assert words.endswith("28.3 MB afterwards; nothing for each user more")
