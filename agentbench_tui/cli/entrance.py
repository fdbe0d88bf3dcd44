"""Entry points of `agentbench` and `agentbench-tui`, with few imports."""

from __future__ import annotations

import signal

from agentbench_tui.model.importing import importing


def agentbench() -> None:
    """Entry point of `agentbench`: run the command and exit with its code."""
    _come_in()
    from agentbench_tui.cli.main import run

    run()


def agentbench_tui() -> None:
    """Entry point of `agentbench-tui`: the terminal session."""
    _come_in()
    from agentbench_tui.cli.main import run_interactive

    run_interactive()


def _come_in() -> None:
    """Import the modules of a command; Ctrl-C during the import ends the process without a
    traceback.
    """
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored
    if is_ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    with importing():
        import agentbench_tui.cli.main  # noqa: F401

    if is_ours:
        from agentbench_tui.model.process_exit import interrupt

        signal.signal(signal.SIGINT, interrupt)
