"""The report of a bug in agentbench: one line, and a file to attach."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import click

from agentbench_tui import __version__
from agentbench_tui.model.errors import AgentbenchError, Unmeasured

_NAMED = 5


def report_fault(error: BaseException, arguments: list[str]) -> int:
    """Write the report, say where it is, and return the exit code."""
    import tempfile
    import traceback

    from agentbench_tui.model.text.secrets import redact
    from agentbench_tui.model.text.untrusted import one_line, visible
    from agentbench_tui.process.supervision import last_call

    command = " ".join(arguments)
    text = "".join(traceback.format_exception(error))
    text = redact(f"agentbench {__version__}\nagentbench {command}\n\n{text}")
    cause = one_line(redact(f"{type(error).__name__}: {error}"), 300)
    summary = f"agentbench: a bug in agentbench: {cause}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="agentbench-fault-", suffix=".txt", delete=False,
            encoding="utf-8", errors="backslashreplace",
        ) as report:  # fmt: skip
            report.write(text)
    except OSError:  # no folder for it: print its text here
        click.echo(f"{summary}\nPlease report it with this:\n{visible(text)}", err=True)
    else:
        click.echo(f"{summary}\nPlease attach {report.name} when you report it.", err=True)
    if call := last_call():
        click.echo(
            f"Code of yours ran in the same process (last: {one_line(redact(call), 200)}). If it"
            " replaces parts of Python or closes files, run it as `worker:` or `command:`.",
            err=True,
        )
    return AgentbenchError.exit_code


def report_broken(error: BaseException, broken: Sequence[str]) -> int:
    """Report that user code broke Python for agentbench; return the exit code.

    `broken` names what it replaced or removed.
    """
    from agentbench_tui.model.text.secrets import redact
    from agentbench_tui.model.text.untrusted import one_line
    from agentbench_tui.process.supervision import last_call

    names = ", ".join(broken[:_NAMED]) + (", …" if len(broken) > _NAMED else "")
    call = f" (last call: {last_call()})" if last_call() else ""
    text = (
        f"code of yours in this process{call} replaced or removed {names}, which agentbench needs"
        f" ({type(error).__name__}: {error}). Run it in a separate process, as `worker:` or"
        " `command:`. `agentbench resume` continues an interrupted run."
    )
    click.echo(f"agentbench: {one_line(redact(text), 1000)}", err=True)
    return Unmeasured.exit_code


def report_unreportable(error: BaseException) -> int:
    """Report in one line that reporting a fault has failed, with few means; return the exit code.

    User code may have broken what reports need, such as opening any file. A message in which
    secrets cannot be masked is left out.
    """
    import os

    line = f"agentbench: a fault could not be reported: {type(error).__name__}"
    with suppress(Exception):  # the import opens files unless the module is loaded already
        from agentbench_tui.model.text.secrets import redact

        # Masked before it is cut, since part of a secret is not recognized.
        line = redact(f"{line}: {error}")[:500]
    line += "; if code of yours replaces parts of Python, run it as `worker:` or `command:`"
    printable = "".join([character if character.isprintable() else " " for character in line])
    with suppress(OSError):
        os.write(2, printable.encode(errors="replace") + b"\n")
    return AgentbenchError.exit_code
