"""Locks of a process that forked, or that ended while a child of it lives on."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest

from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.identity import new_id
from agentbench_tui.store import locking
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.locking import Lease, LeaseHolder, WriteLock, is_leased

FORKING = """
import ctypes, os, sys, time
from pathlib import Path
from agentbench_tui.store.locking import Lease, WriteLock

database, run_id, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
lease = Lease.take(database, run_id)
lock = WriteLock(database)
with lock.held():
    # The one of the C library tells Python nothing, as programs written in C do not.
    child = os.fork() if how == "python" else ctypes.CDLL(None).fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    sys.stdin.readline()
    os._exit(0)
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    create_or_migrate(path)
    return path


@contextmanager
def forked_helper(database: Path, run_id: str, how: str) -> Iterator[int]:
    """A child that lives on after the process that took the locks, and forked it, has ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(database), run_id, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        assert is_leased(database, run_id)
        process.stdin.write("end\n")
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
        os.kill(child, 0)
        yield child
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("how", ["python", "c"])
def test_a_forked_child_does_not_keep_the_lease_of_a_process_that_ended(
    database: Path, how: str
) -> None:
    run_id = new_id()
    with forked_helper(database, run_id, how):
        assert not is_leased(database, run_id)


def test_a_forked_child_of_python_keeps_neither_lock(database: Path) -> None:
    run_id = new_id()
    with forked_helper(database, run_id, "python"):
        lease = Lease.take(database, run_id)
        assert lease is not None
        with closing(WriteLock(database)) as lock, lock.held():
            pass
        lease.release()


def test_a_forked_child_of_python_does_not_keep_the_lock_of_all_leases(database: Path) -> None:
    program = """
import os, sys, time
from pathlib import Path
from agentbench_tui.store.locking import _folder_lock

with _folder_lock(Path(), Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
"""
    leases = Path(f"{database}.leases")
    leases.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", program, str(leases)], stdout=subprocess.PIPE, text=True, check=True
    )
    child = int(ended.stdout)
    os.kill(child, 0)
    descriptor = os.open(leases, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
        os.kill(child, signal.SIGKILL)


def test_who_holds_the_write_lock_for_long_is_named(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "LONGEST_WAIT_S", 0.2)
    with (
        forked_helper(database, new_id(), "c") as child,
        closing(WriteLock(database)) as lock,
        pytest.raises(StoreError, match=rf"held its write lock for 0 s \(pid {child} \("),
        lock.held(),
    ):
        pass


def test_who_holds_the_lock_of_all_leases_for_long_is_named(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """
import sys, time
from pathlib import Path
from agentbench_tui.store.locking import _folder_lock

with _folder_lock(Path(), Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
    leases = Path(f"{database}.leases")
    leases.mkdir()
    monkeypatch.setattr(locking, "LONGEST_WAIT_S", 0.2)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(leases)], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            named = rf"held the lock of all leases for 0 s \(pid {holder.pid} \("
            with pytest.raises(StoreError, match=named):
                Lease.take(database, new_id())
        finally:
            holder.kill()


def abandoned_lease(database: Path, run_id: str) -> Lease:
    """A lease that is held here, and names a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    lease = Lease.take(database, run_id)
    assert lease is not None
    here = LeaseHolder.here()
    lease.write(LeaseHolder(here.boot_id, ended.pid, here.since, here.namespace))
    return lease


def test_an_abandoned_lease_is_taken_over_by_one_only(database: Path) -> None:
    run_id = new_id()
    first = abandoned_lease(database, run_id)
    assert not is_leased(database, run_id)

    taken = Lease.take(database, run_id)

    assert taken is not None
    assert is_leased(database, run_id)
    assert Lease.take(database, run_id) is None
    first.close()
    assert is_leased(database, run_id)
    taken.release()
    assert not is_leased(database, run_id)


def test_an_abandoned_lease_is_taken_over_under_the_write_lock_too(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a run that begins does for all that ended without saying so."""
    monkeypatch.setattr(locking, "LONGEST_WAIT_S", 0.2)
    run_id = new_id()
    first = abandoned_lease(database, run_id)

    with closing(WriteLock(database)) as lock, lock.held():
        taken = Lease.take(database, run_id)

    assert taken is not None
    taken.release()
    first.close()


@pytest.mark.parametrize("changes", [{"boot_id": "another"}, {"namespace": "pid:[1]"}])
def test_a_process_of_another_machine_or_container_is_not_taken_for_gone(
    database: Path, changes: dict[str, str]
) -> None:
    run_id = new_id()
    lease = Lease.take(database, run_id)
    assert lease is not None
    here = LeaseHolder.here()
    fields = {"boot_id": here.boot_id, "namespace": here.namespace, **changes}
    lease.write(LeaseHolder(pid=2**22 + 1, since=time.time(), **fields))

    assert is_leased(database, run_id)
    assert Lease.take(database, run_id) is None
    lease.release()


def test_a_clock_that_was_set_does_not_make_a_living_process_look_gone(database: Path) -> None:
    run_id = new_id()
    lease = Lease.take(database, run_id)
    assert lease is not None
    here = LeaseHolder.here()
    # The lease was taken before the clock was set an hour ahead, which shifts when this process
    # seems to have begun.
    lease.write(msgspec.structs.replace(here, since=here.since - 3600))

    assert is_leased(database, run_id)
    assert Lease.take(database, run_id) is None
    lease.release()


def test_a_later_process_with_the_same_number_is_not_the_holder(database: Path) -> None:
    run_id = new_id()
    lease = Lease.take(database, run_id)
    assert lease is not None
    here = LeaseHolder.here()
    assert here.started > 0
    lease.write(msgspec.structs.replace(here, started=here.started - 1))

    assert not is_leased(database, run_id)
    lease.release()


@pytest.mark.parametrize("run_id", ["../../precious", "/etc/hosts", "", "a/b", ".", "x" * 80])
def test_what_is_no_id_never_becomes_a_path(database: Path, run_id: str) -> None:
    precious = database.parent.parent / "precious"
    precious.write_text("keep")

    with pytest.raises(StoreError, match="is not the id of a run"):
        Lease.take(database, run_id)

    assert not is_leased(database, run_id)
    assert precious.read_text() == "keep"
