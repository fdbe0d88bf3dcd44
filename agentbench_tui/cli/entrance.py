"""The way into `agentbench` and `agentbench-tui`, with little to import."""

from __future__ import annotations

import signal


def agentbench() -> None:
    """Entry point of `agentbench`: runs the command, and ends with its exit code."""
    _come_in()
    from agentbench_tui.cli.main import run

    run()


def agentbench_tui() -> None:
    """Entry point of `agentbench-tui`: the terminal session."""
    _come_in()
    from agentbench_tui.cli.main import run_interactive

    run_interactive()


def _come_in() -> None:
    """Import what a command takes; Ctrl-C meanwhile ends the process as it ends any other, without
    a traceback of where an import was."""
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored
    if is_ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    import agentbench_tui.cli.main  # noqa: F401

    if is_ours:
        from agentbench_tui.model.process_exit import interrupt

        signal.signal(signal.SIGINT, interrupt)
