"""Doctor: a finding for everything, and a warning where measuring would suffer."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from agentbench_tui.instruments import doctor
from agentbench_tui.instruments.cgroup import CgroupLimits
from agentbench_tui.instruments.doctor import (
    Check,
    check_disk,
    check_extra,
    check_files,
    check_git,
    diagnose,
    examine,
)
from agentbench_tui.instruments.environment import Environment, capture_environment
from agentbench_tui.instruments.gauges import GpuIdentity
from agentbench_tui.instruments.packages import EXTRAS
from agentbench_tui.instruments.pressure import Pressure
from agentbench_tui.instruments.terminal import Terminal
from agentbench_tui.instruments.version_control import Vcs

NAMES = [
    *("clock", "cores", "limits", "governor", "load", "pressure", "GPU", "terminal", "SQLite"),
    *("memory", "disk", "open files", "git", "hardware"),
    *(f"extra {name}" for name in EXTRAS),
]
GOOD_TERMINAL = Terminal(
    term="xterm-256color",
    program=None,
    interactive=True,
    columns=120,
    lines=40,
    colors="256",
    encoding="utf-8",
)
QUIET = Pressure(0.0, 0.0, 0.0, 0)


@pytest.fixture(scope="module")
def quiet_machine() -> Environment:
    """Nothing to complain about."""
    return msgspec.structs.replace(
        capture_environment(Path.cwd()),
        cpu_model="Fast 9",
        physical_cores=8,
        logical_cores=16,
        affinity=tuple(range(16)),
        cgroup=CgroupLimits(2, None, None),
        container=None,
        governor="performance",
        turbo=False,
        clock_source="tsc",
        timer_step_ns=30,
        load=(0.5, 0.5, 0.5),
        pressure_cpu=QUIET,
        pressure_memory=QUIET,
        pressure_io=QUIET,
        gpus=(GpuIdentity(index=0, vendor="NVIDIA", name="H100"),),
        terminal=GOOD_TERMINAL,
        sqlite_version="3.51.3",
        missing={},
    )


def check(environment: Environment, name: str) -> Check:
    (found,) = (one for one in examine(environment) if one.name == name)
    return found


def test_this_machine_has_a_finding_for_everything(tmp_path: Path) -> None:
    checks = diagnose(tmp_path / "agentbench.db")
    assert [one.name for one in checks] == NAMES
    assert [one.name for one in checks if not one.finding.strip()] == []
    assert [one.name for one in checks if one.status in {"warn", "fail"} and not one.advice] == []


def test_a_quiet_machine_is_ok_throughout(quiet_machine: Environment) -> None:
    assert {one.name: one.status for one in examine(quiet_machine)} == dict.fromkeys(
        NAMES[:9], "ok"
    )


@pytest.mark.parametrize(
    ("name", "changes", "status", "finding"),
    [
        ("clock", {"clock_source": "hpet"}, "warn", "hpet"),
        ("clock", {"timer_step_ns": 1001}, "warn", "1001 ns"),
        ("clock", {"timer_step_ns": 1000}, "ok", "1000 ns"),
        ("clock", {"clock_source": None}, "ok", "source not known"),
        ("cores", {"affinity": (3,)}, "warn", "1 of 16 cores"),
        ("cores", {"affinity": (3, 4)}, "info", "2 of 16 cores usable (8 without"),
        ("cores", {"affinity": None}, "ok", "16 of 16 cores"),
        ("limits", {"cgroup": CgroupLimits(2, 1.5, None)}, "warn", "1.5 cores"),
        ("limits", {"cgroup": CgroupLimits(1, None, 2 * 10**9)}, "info", "2,000 MB of memory"),
        ("limits", {"cgroup": None, "missing": {"cgroup": "why"}}, "info", "why"),
        ("limits", {"container": "docker"}, "ok", "docker"),
        ("governor", {"governor": "powersave"}, "warn", "powersave, turbo off"),
        ("governor", {"governor": None, "missing": {"governor": "why"}}, "info", "why"),
        ("load", {"load": (8.1, 0, 0)}, "warn", "8.10"),
        ("load", {"load": (8.0, 99, 99)}, "ok", "8.00"),
        ("load", {"load": None, "missing": {"load": "why"}}, "info", "why"),
        ("pressure", {"pressure_io": Pressure(10.1, 0, 0, 0)}, "warn", "disk 10%"),
        ("pressure", {"pressure_cpu": Pressure(10.0, 99, 99, 0)}, "ok", "cores 10%"),
        ("GPU", {"gpus": None, "missing": {"gpus": "no GPU found (why)"}}, "info", "why"),
        ("SQLite", {"sqlite_version": "3.51.2"}, "info", "our write lock rules that out"),
        ("SQLite", {"sqlite_version": "3.36.0"}, "fail", "3.36.0"),
    ],
)
def test_checks_of_a_machine(
    name: str, changes: dict[str, object], status: str, finding: str, quiet_machine: Environment
) -> None:
    found = check(msgspec.structs.replace(quiet_machine, **changes), name)
    assert found.status == status
    assert finding in found.finding
    assert (found.advice is not None) >= (status in {"warn", "fail"})


def test_pressure_that_is_not_known(quiet_machine: Environment) -> None:
    unknown = msgspec.structs.replace(
        quiet_machine,
        pressure_cpu=None,
        pressure_memory=None,
        pressure_io=None,
        missing={"pressure_cpu": "why"},
    )
    assert check(unknown, "pressure") == Check("info", "pressure", "not known: why")


@pytest.mark.parametrize(
    ("changes", "status", "advice"),
    [
        ({"interactive": False}, "info", None),
        ({"encoding": "ascii"}, "warn", "UTF-8"),
        ({"encoding": "UTF8"}, "ok", None),
        ({"term": "dumb"}, "warn", "TERM"),
        ({"term": None}, "warn", "TERM"),
        ({"columns": 79}, "warn", "80×24"),
        ({"lines": 23}, "warn", "80×24"),
        ({"columns": None, "lines": None}, "ok", None),
    ],
)
def test_terminals(
    changes: dict[str, object], status: str, advice: str | None, quiet_machine: Environment
) -> None:
    terminal = msgspec.structs.replace(GOOD_TERMINAL, **changes)
    found = check(msgspec.structs.replace(quiet_machine, terminal=terminal), "terminal")
    assert found.status == status
    assert (found.advice is None) == (advice is None)
    assert advice is None or advice in str(found.advice)


@pytest.mark.parametrize(
    ("free_mb", "kind", "status"),
    [
        (50_000, "ext4", "ok"),
        (999, "ext4", "warn"),
        (99, "ext4", "fail"),
        (50_000, "nfs4", "warn"),
        (50_000, None, "ok"),
    ],
)
def test_disks(
    free_mb: int, kind: str | None, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free_mb * 10**6))
    monkeypatch.setattr(doctor, "filesystem_of", lambda _: kind)
    assert check_disk(tmp_path / "not" / "there" / "yet.db").status == status
    assert not (tmp_path / "not").exists()


def test_a_folder_that_cannot_be_written_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    found = check_disk(tmp_path / "a.db")
    assert (found.status, found.finding) == ("fail", f"{tmp_path} cannot be written")


@pytest.mark.parametrize(
    ("limits", "status", "finding"),
    [
        ((256, 4096), "warn", "256 allowed, can be raised to 4,096"),
        ((1024, resource.RLIM_INFINITY), "ok", "1,024 allowed, can be raised to no limit"),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), "ok", "no limit"),
    ],
)
def test_open_files(
    limits: tuple[int, int], status: str, finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    found = check_files()
    assert (found.status, found.finding) == (status, finding)


@pytest.mark.parametrize(
    ("vcs", "status", "finding"),
    [
        (Vcs(commit="a" * 40, branch="main", dirty=False), "ok", f"{'a' * 12} on main, clean"),
        (Vcs(commit="a" * 40, dirty=True), "info", f"{'a' * 12} on no branch, with changes"),
        (Vcs(commit="a" * 40, branch="b", missing={"dirty": "slow"}), "info", "slow"),
        (Vcs(missing={"commit": "no repository"}), "info", "no repository"),
    ],
)
def test_git(vcs: Vcs, status: str, finding: str) -> None:
    found = check_git(vcs)
    assert found.status == status
    assert finding in found.finding


def test_an_extra_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "gpu", "no-such-distribution-0")
    assert check_extra("gpu") == Check(
        *("info", "extra gpu", "no-such-distribution-0 is not installed"),
        "pip install 'agentbench-tui[gpu]'",
    )


def test_the_command_prints_it(tmp_path: Path) -> None:
    database = tmp_path / "agentbench.db"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "agentbench_tui", "doctor"),
            *("--db", str(database), "--format", "json"),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "agentbench.doctor/1"
    assert [one["name"] for one in document["checks"]] == NAMES
    assert not database.exists()
