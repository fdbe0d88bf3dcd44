"""`agentbench gate`: checks thresholds on a stored run."""

from __future__ import annotations

import click

from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
    print_prose,
)
from agentbench_tui.model.text.untrusted import visible


@click.command(short_help="Check gates on a stored run.")
@click.argument("words", nargs=-1, metavar="[RUN] [GATE]...")
@database_option
@format_option()
def gate(words: tuple[str, ...], database: str | None, form: str) -> int:
    """Check that RUN meets each GATE, as `agentbench run --fail-on` does.

    RUN is an id, a unique prefix of one, or `latest`, which is also the default. Without a GATE,
    the run is checked against its own gates: those of its command line and of its suites. Exits
    with 1 if a gate failed, with 3 if a gate or part of the run could not be judged, and with 0
    otherwise.

    \b
    agentbench gate latest 'accuracy>=0.8' 'e2e_ms.p95<=1200' no-regression
    agentbench gate 01a2203b 'no-regression(accuracy)' --format json
    agentbench gate
    """
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.gates import gates_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.verdicts.runs.ended_run import gates_document, judged_run
    from agentbench_tui.verdicts.runs.gate import gate_lines

    run, gates = _run_and_gates(words)
    with reading(database_path(database)) as connection:
        ended = judged_run(connection, find_run(connection, run), gates)
    document = gates_document(ended)
    print_report(gates_report(document), form, document)
    for line in gate_lines(ended.gates):
        print_prose(visible(f"gate: {line}"), err=True)
    return ended.exit_code


def _run_and_gates(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Take the first word for the run unless it has the form of a gate."""
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.model.gate import check_form

    if not words:
        return "latest", ()
    try:
        check_form(words[0])
    except UsageError:
        return words[0], words[1:]
    return "latest", words
