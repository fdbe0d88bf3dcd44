"""Limits of control groups, from trees of files as the kernel makes them."""

from pathlib import Path

import pytest

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.cgroup import CgroupLimits, memory_left_bytes, read_limits

UNIFIED = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def unified(root: Path, group: str, files: dict[str, str], mounts: str = UNIFIED) -> None:
    write(root, {"proc/self/cgroup": f"0::{group}\n", "proc/self/mountinfo": mounts})
    write(root, {f"sys/fs/cgroup/{name}": text for name, text in files.items()})


def test_version_2(tmp_path: Path) -> None:
    unified(tmp_path, "/a", {"a/cpu.max": "150000 100000\n", "a/memory.max": "4294967296\n"})
    assert read_limits(tmp_path) == CgroupLimits(2, 1.5, 4_294_967_296)


def test_the_lowest_limit_on_the_way_to_the_root_holds(tmp_path: Path) -> None:
    unified(
        tmp_path,
        "/a/b/c",
        {
            "a/cpu.max": "50000 100000\n",
            "a/b/cpu.max": "400000 100000\n",
            "a/b/c/cpu.max": "max 100000\n",
            "a/memory.max": "max\n",
            "a/b/memory.max": "1000\n",
            "a/b/c/memory.max": "2000\n",
            "other/memory.max": "1\n",
        },
    )
    assert read_limits(tmp_path) == CgroupLimits(2, 0.5, 1000)


def test_a_mount_whose_name_is_no_text(tmp_path: Path) -> None:
    unified(tmp_path, "/a", {"a/memory.max": "1000\n"})
    mounts = tmp_path / "proc/self/mountinfo"
    mounts.write_bytes(b"40 23 0:33 / /mnt/\xff rw - tmpfs tmpfs rw\n" + mounts.read_bytes())
    assert read_limits(tmp_path) == CgroupLimits(2, None, 1000)


def test_no_limit_is_none_and_not_zero(tmp_path: Path) -> None:
    unified(tmp_path, "/", {"cgroup.procs": "1\n"})
    assert read_limits(tmp_path) == CgroupLimits(2, None, None)


def test_a_container_that_sees_its_own_group_as_the_top(tmp_path: Path) -> None:
    unified(tmp_path, "/", {"cpu.max": "200000 100000\n", "memory.max": "max\n"})
    assert read_limits(tmp_path) == CgroupLimits(2, 2.0, None)


def test_a_container_that_sees_the_host_s_path_of_its_group(tmp_path: Path) -> None:
    mounts = UNIFIED.replace(" / ", " /docker/abc ", 1)
    unified(tmp_path, "/docker/abc/job", {"job/cpu.max": "100000 100000\n"}, mounts)
    assert read_limits(tmp_path).cpu_cores == 1.0


@pytest.mark.parametrize("group", ["/../elsewhere", "/docker/of/the/host"])
def test_a_group_outside_what_is_mounted(group: str, tmp_path: Path) -> None:
    unified(tmp_path, group, {"cpu.max": "300000 100000\n"})
    assert read_limits(tmp_path).cpu_cores == 3.0


def test_version_1(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/a\n0::/\n",
            "proc/self/mountinfo": (
                "32 31 0:29 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
                "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
            ),
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "25000\n",
            "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "50000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "3000\n",
            "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    assert read_limits(tmp_path) == CgroupLimits(1, 0.5, 3000)


def test_without_control_groups_the_reason_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="/proc/self/cgroup: No such file"):
        read_limits(tmp_path)
    unified(tmp_path, "/", {}, mounts="")
    with pytest.raises(NotAvailable, match="not mounted"):
        read_limits(tmp_path)
    write(tmp_path, {"proc/self/cgroup": "nonsense\n"})
    with pytest.raises(NotAvailable, match="not in the form known"):
        read_limits(tmp_path)


def test_what_is_left_under_the_closest_limit(tmp_path: Path) -> None:
    stat = "anon 300\ninactive_file 150\nactive_file 70\n"
    unified(
        tmp_path,
        "/a/b",
        {
            "a/memory.max": "2000\n",
            "a/memory.current": "1900\n",
            "a/b/memory.max": "1000\n",
            "a/b/memory.current": "600\n",
            "a/b/memory.stat": stat,
        },
    )
    assert memory_left_bytes(tmp_path) == 100  # of /a, whose cache is not known
    write(tmp_path, {"sys/fs/cgroup/a/memory.stat": "inactive_file 1000\n"})
    assert memory_left_bytes(tmp_path) == 550  # of /a/b: 1000 - (600 - 150)


def test_nothing_is_left_of_a_group_that_is_over_its_limit(tmp_path: Path) -> None:
    unified(tmp_path, "/", {"memory.max": "1000\n", "memory.current": "1001\n"})
    assert memory_left_bytes(tmp_path) == 0


def test_what_is_left_of_no_limit_is_none(tmp_path: Path) -> None:
    unified(tmp_path, "/", {"memory.max": "max\n", "memory.current": "1001\n"})
    assert memory_left_bytes(tmp_path) is None


def test_what_is_left_in_version_1(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/job\n0::/\n",
            "proc/self/mountinfo": "33 23 0:30 / /cg/memory rw - cgroup cgroup rw,memory\n",
            "cg/memory/job/memory.limit_in_bytes": "1000\n",
            "cg/memory/job/memory.usage_in_bytes": "900\n",
            "cg/memory/job/memory.stat": "inactive_file 1\ntotal_inactive_file 200\n",
        },
    )
    assert memory_left_bytes(tmp_path) == 300
