"""Checks whether this machine is suitable for measurements, with advice."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Literal

import msgspec

from agentbench_tui.instruments.availability import plain
from agentbench_tui.instruments.environment import Environment, capture_environment
from agentbench_tui.instruments.gauges import BYTES_PER_MB, LITTLE_DISK_MB, GpuIdentity
from agentbench_tui.instruments.hardware import hardware_of, tier_words
from agentbench_tui.instruments.overhead import NOISY_PSI_PERCENT
from agentbench_tui.instruments.packages import EXTRAS, PROJECT, version_of
from agentbench_tui.instruments.version_control import Vcs, capture_vcs
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.location import NETWORK_FILESYSTEMS, filesystem_of

Status = Literal["ok", "warn", "fail", "info"]

_QUICK_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
"""Read without entering the kernel."""
_COARSE_STEP_NS = 1000
_BUSY_LOAD_SHARE = 0.5
_LITTLE_MEMORY_SHARE = 0.10
_NO_DISK_MB = 100
_FEW_FILES = 1024
_SMALLEST_TERMINAL = (80, 24)
_SQLITE_NEEDED = (3, 37)
"""The first version with STRICT tables, which the schema uses."""
_SQLITE_MENDED = (3, 51, 3)
"""In earlier versions, a checkpoint during a commit of another connection can corrupt a
database.
"""


class Check(msgspec.Struct, frozen=True):
    """One check and its result."""

    status: Status
    """`fail`: cannot work; `warn`: numbers suffer; `info`: good to know."""
    name: str
    finding: str
    advice: str | None = None
    """What to do; None if nothing is necessary."""


def diagnose(db_path: Path) -> list[Check]:
    """Check this machine, and the location of the database. Never raises."""
    environment = capture_environment(Path.cwd())
    return [
        *examine(environment),
        check_memory(),
        check_disk(db_path),
        check_files(),
        check_git(capture_vcs(Path.cwd())),
        check_hardware(environment, db_path),
        *(check_extra(extra) for extra in EXTRAS),
    ]


def examine(environment: Environment) -> list[Check]:
    """Return the checks that depend only on the facts of a machine."""
    return [
        _clock(environment),
        _cores(environment),
        _limits(environment),
        _governor(environment),
        _load(environment),
        _pressure(environment),
        _gpu(environment),
        _terminal(environment),
        _sqlite(environment),
    ]


def _clock(environment: Environment) -> Check:
    source, step = environment.clock_source, environment.timer_step_ns
    finding = f"{source or 'source not known'}, smallest step {step} ns"
    if source is not None and source not in _QUICK_CLOCKS:
        advice = "each reading enters the kernel; let the kernel use the TSC, if there is one"
        return Check("warn", "clock", finding, advice)
    if step > _COARSE_STEP_NS:
        return Check("warn", "clock", finding, "times below 100 µs are coarse on this machine")
    return Check("ok", "clock", finding)


def _cores(environment: Environment) -> Check:
    logical, physical = environment.logical_cores, environment.physical_cores
    usable = logical if environment.affinity is None else len(environment.affinity)
    model = environment.cpu_model or "model not known"
    finding = f"{model}: {usable or '?'} of {logical or '?'} cores usable"
    if physical is not None and logical is not None and physical != logical:
        finding += f" ({physical} without hyper-threads)"
    if usable == 1:
        advice = "harness and agents share one core; allow two or more (taskset, container limit)"
        return Check("warn", "cores", finding, advice)
    return Check("ok" if usable == logical else "info", "cores", finding)


def _limits(environment: Environment) -> Check:
    limits = environment.cgroup
    if limits is None:
        return Check("info", "limits", f"not known: {environment.missing['cgroup']}")
    parts = []
    if limits.cpu_cores is not None:
        parts.append(f"{limits.cpu_cores:g} cores")
    if limits.memory_bytes is not None:
        parts.append(f"{limits.memory_bytes / BYTES_PER_MB:,.0f} MB of memory")
    finding = f"{' and '.join(parts) or 'no limit'} (control groups, version {limits.version})"
    if environment.container is not None:
        finding += f", in a container: {environment.container}"
    if limits.cpu_cores is not None:
        advice = "a process that uses it up is paused until the next period, often 100 ms; lift it"
        return Check("warn", "limits", finding, advice)
    return Check("info" if parts else "ok", "limits", finding)


def _governor(environment: Environment) -> Check:
    if environment.governor is None:
        return Check("info", "governor", f"not known: {environment.missing['governor']}")
    turbo = {None: "not known", True: "on", False: "off"}[environment.turbo]
    finding = f"{environment.governor}, turbo {turbo}"
    if environment.governor != "performance":
        advice = "clocks follow the load; sudo cpupower frequency-set -g performance"
        return Check("warn", "governor", finding, advice)
    return Check("ok", "governor", finding)


def _load(environment: Environment) -> Check:
    if environment.load is None:
        return Check("info", "load", f"not known: {environment.missing['load']}")
    cores = environment.logical_cores or 1
    finding = (
        f"{environment.load[0]:.2f} runnable tasks on {counted(cores, 'core')} in the last minute"
    )
    if environment.load[0] > _BUSY_LOAD_SHARE * cores:
        return Check("warn", "load", finding, "something else is busy; wait for it or end it")
    return Check("ok", "load", finding)


def _pressure(environment: Environment) -> Check:
    known = {
        "cores": environment.pressure_cpu,
        "memory": environment.pressure_memory,
        "disk": environment.pressure_io,
    }
    shares = {name: one.avg10_percent for name, one in known.items() if one is not None}
    if not shares:
        return Check("info", "pressure", f"not known: {environment.missing['pressure_cpu']}")
    waits = ", ".join(f"{name} {share:.0f}%" for name, share in shares.items())
    finding = f"waiting in the last 10 s for {waits}"
    if max(shares.values()) > NOISY_PSI_PERCENT:
        advice = f"above {NOISY_PSI_PERCENT:.0f}% times are noisy; wait until it is quiet"
        return Check("warn", "pressure", finding, advice)
    return Check("ok", "pressure", finding)


def _gpu(environment: Environment) -> Check:
    if environment.gpus is None:
        advice = None
        if version_of(EXTRAS["gpu"]) is None:
            advice = f"for NVIDIA GPUs: {_pip('gpu')}"
        return Check("info", "GPU", environment.missing["gpus"], advice)
    return Check("ok", "GPU", "; ".join(map(_gpu_words, environment.gpus)))


def _gpu_words(gpu: GpuIdentity) -> str:
    """`NVIDIA H100 PCIe, 80 GB, in MIG slices`."""
    name = gpu.name or "(name not known)"
    words = [name if name.startswith(gpu.vendor) else f"{gpu.vendor} {name}"]
    if gpu.memory_total_mb is not None:
        words.append(f"{gpu.memory_total_mb / 1000:.0f} GB")
    if gpu.mig:
        words.append("in MIG slices")
    return ", ".join(words)


def _terminal(environment: Environment) -> Check:
    terminal = environment.terminal
    size = f"{terminal.columns}×{terminal.lines}" if terminal.columns else "size not known"
    encoding = terminal.encoding or "encoding not known"
    finding = f"{terminal.term or 'TERM not set'}, {size}, colors: {terminal.colors}, {encoding}"
    if not terminal.interactive:
        return Check("info", "terminal", f"the output is not a terminal ({finding})")
    if (terminal.encoding or "").lower().replace("-", "") != "utf8":
        return Check("warn", "terminal", finding, "set LANG to a UTF-8 locale, C.UTF-8 say")
    if terminal.term in {None, "dumb"}:
        return Check("warn", "terminal", finding, "set TERM, to xterm-256color say")
    columns, lines = _SMALLEST_TERMINAL
    if (terminal.columns or columns) < columns or (terminal.lines or lines) < lines:
        return Check("warn", "terminal", finding, f"make the window {columns}×{lines} or larger")
    return Check("ok", "terminal", finding)


def _sqlite(environment: Environment) -> Check:
    version = tuple(int(part) for part in environment.sqlite_version.split("."))
    finding = environment.sqlite_version
    if version < _SQLITE_NEEDED:
        return Check("fail", "SQLite", finding, "3.37 or newer is needed: use a newer Python")
    if version < _SQLITE_MENDED:
        finding += (
            " can corrupt a database when a checkpoint meets a commit (fixed in 3.51.3);"
            " our write lock rules that out"
        )
        return Check("info", "SQLite", finding, "write to the database with agentbench only")
    return Check("ok", "SQLite", finding)


def check_memory() -> Check:
    """Check the memory available now, and whether some was swapped out."""
    import psutil

    memory = psutil.virtual_memory()
    available, total = memory.available / BYTES_PER_MB, memory.total / BYTES_PER_MB
    finding = f"{available:,.0f} of {total:,.0f} MB available"
    try:
        finding += f", {psutil.swap_memory().used / BYTES_PER_MB:,.0f} MB swapped out"
    except OSError as error:
        finding += f", swap not known ({plain(error)})"
    if available < _LITTLE_MEMORY_SHARE * total:
        return Check("warn", "memory", finding, "swapping spoils times; end what is not needed")
    return Check("ok", "memory", finding)


def check_disk(db_path: Path) -> Check:
    """Check whether the database can be written at its location, and the free space."""
    folder = db_path.absolute().parent
    try:
        folder = _existing(folder)
        free_mb = shutil.disk_usage(folder).free / BYTES_PER_MB
        target = db_path if db_path.exists() else folder
    except OSError as error:
        return Check("fail", "disk", f"{folder}: {plain(error)}", "give another file with --db")
    kind = filesystem_of(folder)
    finding = f"{free_mb:,.0f} MB free for {db_path} ({kind or 'file system not known'})"
    if not os.access(target, os.W_OK):
        return Check("fail", "disk", f"{target} cannot be written", "give another file with --db")
    if free_mb < _NO_DISK_MB:
        return Check("fail", "disk", finding, "make room, or give another file with --db")
    if kind in NETWORK_FILESYSTEMS:
        advice = (
            "a run is written elsewhere and copied here at its end; give a local file with --db"
        )
        return Check("warn", "disk", finding, advice)
    if free_mb < LITTLE_DISK_MB:
        return Check("warn", "disk", finding, "long runs with gauges need more; make room")
    return Check("ok", "disk", finding)


def _existing(folder: Path) -> Path:
    """Return the folder, or its nearest existing parent. Raises OSError."""
    while not folder.exists():
        folder = folder.parent
    return folder


def check_files() -> Check:
    """Check how many files, including connections, this process may open."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = "no limit" if hard == resource.RLIM_INFINITY else f"{hard:,}"
    if soft == resource.RLIM_INFINITY:
        return Check("ok", "open files", "no limit")
    finding = f"{soft:,} allowed, can be raised to {most}"
    if soft < _FEW_FILES:
        advice = f"each connection needs one; ulimit -n {_FEW_FILES} or more"
        return Check("warn", "open files", finding, advice)
    return Check("ok", "open files", finding)


def check_git(vcs: Vcs) -> Check:
    """Check the state of the code that new runs are marked with."""
    if vcs.commit is None:
        why = vcs.missing.get("commit", "no commit")
        return Check("info", "git", f"runs from here carry no commit: {why}")
    place = f"{vcs.commit[:12]} on {vcs.branch or 'no branch'}"
    if vcs.dirty is None:
        return Check("info", "git", f"{place}; {vcs.missing.get('dirty', 'state not known')}")
    if vcs.dirty:
        return Check("info", "git", f"{place}, with changes", "commit, to find the code again")
    return Check("ok", "git", f"{place}, clean")


def check_hardware(environment: Environment, db_path: Path) -> Check:
    """Check the hardware tier of this machine, and what the next tier requires."""
    try:
        free = shutil.disk_usage(_existing(db_path.absolute().parent)).free
    except OSError as error:
        return Check("info", "hardware", f"tier not known: {plain(error)}")
    return Check("info", "hardware", tier_words(hardware_of(environment, free)))


def check_extra(extra: str) -> Check:
    """Check whether an optional part is installed."""
    distribution, name = EXTRAS[extra], f"extra {extra}"
    version = version_of(distribution)
    if version is None:
        return Check("info", name, f"{distribution} is not installed", _pip(extra))
    return Check("ok", name, f"{distribution} {version}")


def _pip(extra: str) -> str:
    return f"pip install '{PROJECT}[{extra}]'"
