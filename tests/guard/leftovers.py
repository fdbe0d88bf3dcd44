"""What a test left running: child processes of this process, and threads that keep it alive."""

import threading

import psutil

_KEPT = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "ready_commands.py")
"""Helpers that Python's own library, or `ready_commands`, starts once and keeps to the end.

A command forked from the latter has the same command line; who asks for it waits until it ends.
"""


def children() -> dict[int, psutil.Process]:
    """Live descendants of this process by pid; zombies and helpers that are kept left out."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            line = " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            continue
        if not any(name in line for name in _KEPT):
            found[process.pid] = process
    return found


def end(processes: list[psutil.Process], grace_s: float) -> list[str]:
    """Wait `grace_s` for the processes to end by themselves, kill the others and describe those."""
    _, alive = psutil.wait_procs(processes, timeout=grace_s)
    descriptions = []
    for process in alive:
        try:
            descriptions.append(f"process {process.pid}: {' '.join(process.cmdline())[:200]}")
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(alive, timeout=5)
    return descriptions


def threads(before: set[threading.Thread], grace_s: float) -> list[str]:
    """Describe non-daemon threads that were not there before and do not end within `grace_s`."""
    descriptions = []
    for thread in threading.enumerate():
        if thread in before or thread.daemon or thread is threading.current_thread():
            continue
        thread.join(grace_s)
        if thread.is_alive():
            descriptions.append(f"thread {thread.name}")
    return descriptions
