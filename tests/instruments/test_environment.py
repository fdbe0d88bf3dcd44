"""The facts kept with every run: complete or with a reason, and comparable."""

import platform
import re
import socket
import sqlite3
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import msgspec
import psutil
import pytest
from fake_nvml import FakeGpu, FakeNvml
from packaging.requirements import Requirement

import agentbench_tui
from agentbench_tui.instruments import processor
from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.cgroup import CgroupLimits
from agentbench_tui.instruments.environment import (
    Environment,
    capture_environment,
    container,
    fingerprint,
    operating_system,
)
from agentbench_tui.instruments.gpu import open_gpus
from agentbench_tui.instruments.packages import DEPENDENCIES, EXTRAS, package_versions

PROJECT_FILE = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture(scope="module")
def environment() -> Environment:
    return capture_environment(Path.cwd())


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_becomes_json_and_comes_back_equal(environment: Environment) -> None:
    document = msgspec.json.encode(environment)
    assert msgspec.json.decode(document, type=Environment) == environment


def test_what_is_none_has_a_reason_and_what_has_a_reason_is_none(environment: Environment) -> None:
    fields = msgspec.structs.asdict(environment)
    assert {name for name, value in fields.items() if value is None} == set(environment.missing)
    assert all(environment.missing.values())


def test_a_machine_that_tells_nothing_has_reasons_and_no_zeros(tmp_path: Path) -> None:
    bare = capture_environment(tmp_path, root=tmp_path)
    expected = {
        *("cpu_model", "governor", "turbo", "clock_source", "cgroup", "container", "gpus"),
        *("virtual_machine", "pressure_cpu", "pressure_memory", "pressure_io"),
    }
    assert expected <= set(bare.missing)
    assert all(getattr(bare, name) is None for name in expected)


def test_says_what_other_tools_say(environment: Environment) -> None:
    assert environment.kernel == platform.uname().release
    assert environment.hostname == socket.gethostname()
    assert environment.python_version == platform.python_version()
    assert environment.sqlite_version == sqlite3.sqlite_version
    assert environment.memory_bytes == psutil.virtual_memory().total
    assert environment.logical_cores == psutil.cpu_count()
    assert environment.folder == str(Path.cwd())
    assert environment.timer_step_ns > 0


def test_gpus_are_named(tmp_path: Path) -> None:
    two = capture_environment(
        tmp_path, gpus=lambda: open_gpus(nvml=lambda: FakeNvml(FakeGpu(), FakeGpu(name="Other")))
    )
    assert two.gpus is not None
    assert [gpu.name for gpu in two.gpus][:2] == ["Tesla Fake", "Other"]
    assert "gpus" not in two.missing


def test_the_fingerprint_is_stable_and_of_64_hex_digits(environment: Environment) -> None:
    again = msgspec.json.decode(msgspec.json.encode(environment), type=Environment)
    assert fingerprint(again) == fingerprint(environment)
    assert re.fullmatch(r"[0-9a-f]{64}", fingerprint(environment))


@pytest.mark.parametrize(
    "changes",
    [
        {"hostname": "elsewhere"},
        {"load": (99.0, 99.0, 99.0)},
        {"pressure_cpu": None},
        {"kernel": "0.1"},
        {"packages": {}},
        {"python_version": "3.11.99"},
        {"memory_bytes": 16 * 2**30 - 300_000_000},
        {"affinity": (2, 3)},
        {"folder": "/elsewhere"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_changes_no_times_leaves_the_fingerprint(
    changes: dict[str, object], environment: Environment
) -> None:
    base = msgspec.structs.replace(
        environment, python_version="3.11.7", memory_bytes=16 * 2**30, affinity=(0, 1)
    )
    assert fingerprint(msgspec.structs.replace(base, **changes)) == fingerprint(base)


@pytest.mark.parametrize(
    "changes",
    [
        {"cpu_model": "another"},
        {"physical_cores": 1000},
        {"logical_cores": 1000},
        {"affinity": (0,)},
        {"memory_bytes": 17 * 2**30},
        {"cgroup": CgroupLimits(2, 0.5, None)},
        {"cgroup": CgroupLimits(2, None, 1000)},
        {"os": "Plan 9"},
        {"architecture": "vax"},
        {"python_version": "3.99.0"},
        {"python_implementation": "PyPy"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_changes_times_changes_the_fingerprint(
    changes: dict[str, object], environment: Environment
) -> None:
    base = msgspec.structs.replace(environment, memory_bytes=16 * 2**30, affinity=(0, 1))
    assert fingerprint(msgspec.structs.replace(base, **changes)) != fingerprint(base)


def test_gpus_are_part_of_the_fingerprint(environment: Environment, tmp_path: Path) -> None:
    def prints(*gpus: FakeGpu) -> str:
        source = open_gpus(nvml=lambda: FakeNvml(*gpus), root=tmp_path)
        with source:
            found = source.identities()
        return fingerprint(msgspec.structs.replace(environment, gpus=found))

    assert prints(FakeGpu(uuid="a")) == prints(FakeGpu(uuid="b"))
    assert len({prints(), prints(FakeGpu()), prints(FakeGpu(), FakeGpu())}) == 3


def test_packages_are_those_of_the_project_file() -> None:
    project = tomllib.loads(PROJECT_FILE.read_text())["project"]
    assert {Requirement(line).name for line in project["dependencies"]} == set(DEPENDENCIES)
    optional = project["optional-dependencies"]
    assert {name: Requirement(lines[0]).name for name, lines in optional.items()} == EXTRAS


def test_versions_are_those_that_the_library_tells() -> None:
    versions = package_versions()
    told = {name: metadata.version(name) for name in versions.keys() - {"agentbench-tui"}}
    assert told == {name: versions[name] for name in told}


def test_packages_that_are_needed_indirectly_are_listed_too() -> None:
    versions = package_versions()
    assert versions["agentbench-tui"] == agentbench_tui.__version__
    assert versions["psutil"] == psutil.__version__
    assert {"ruamel-yaml", "pydantic-core", "yarl"} <= set(versions)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"etc/os-release": 'NAME="Debian GNU/Linux"\nVERSION_ID="12"\n'}, "Debian GNU/Linux 12"),
        ({"etc/os-release": "# c=d\n\nNAME='Arch Linux'\n"}, "Arch Linux"),
        ({"usr/lib/os-release": "NAME=Fedora\nVERSION_ID=41\n"}, "Fedora 41"),
        ({}, platform.system()),
    ],
)
@pytest.mark.skipif(platform.system() != "Linux", reason="macOS has no os-release")
def test_operating_system(files: dict[str, str], expected: str, tmp_path: Path) -> None:
    write(tmp_path, files)
    assert operating_system(tmp_path) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".dockerenv": ""}, "docker"),
        ({"run/.containerenv": ""}, "podman"),
        ({"run/systemd/container": "lxc\n"}, "lxc"),
        ({"proc/1/cgroup": "0::/kubepods/besteffort/pod1/abc\n"}, "kubernetes"),
        ({"proc/1/cgroup": "4:memory:/docker/abc\n"}, "docker"),
    ],
)
def test_signs_of_a_container(
    files: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    write(tmp_path, files)
    assert container(tmp_path) == expected


def test_no_sign_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    write(tmp_path, {"proc/1/cgroup": "0::/init.scope\n"})
    with pytest.raises(NotAvailable):
        container(tmp_path)


CPUFREQ = "sys/devices/system/cpu"


@pytest.mark.parametrize(
    ("read", "files", "expected"),
    [
        (processor.cpu_model, {"proc/cpuinfo": "model name\t: Fast 9\n"}, "Fast 9"),
        (
            processor.cpu_model,
            {"proc/cpuinfo": "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"},
            "Arm implementer 0x41 part 0xd0c",
        ),
        (processor.is_virtual_machine, {"proc/cpuinfo": "flags\t: fpu hypervisor sse\n"}, True),
        (processor.is_virtual_machine, {"proc/cpuinfo": "flags\t: fpu sse\n"}, False),
        (
            processor.governor,
            {
                f"{CPUFREQ}/cpu0/cpufreq/scaling_governor": "powersave\n",
                f"{CPUFREQ}/cpu1/cpufreq/scaling_governor": "performance\n",
                f"{CPUFREQ}/cpu2/cpufreq/scaling_governor": "powersave\n",
            },
            "performance,powersave",
        ),
        (processor.turbo, {f"{CPUFREQ}/intel_pstate/no_turbo": "1\n"}, False),
        (processor.turbo, {f"{CPUFREQ}/intel_pstate/no_turbo": "0\n"}, True),
        (processor.turbo, {f"{CPUFREQ}/cpufreq/boost": "1\n"}, True),
        (
            processor.clock_source,
            {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"},
            "hpet",
        ),
    ],
)
@pytest.mark.skipif(platform.system() != "Linux", reason="macOS answers through sysctl")
def test_processor(
    read: Callable[[Path], object], files: dict[str, str], expected: object, tmp_path: Path
) -> None:
    with pytest.raises(NotAvailable):
        read(tmp_path)
    write(tmp_path, files)
    assert read(tmp_path) == expected
