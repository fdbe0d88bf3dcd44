"""`agentbench history`: an agent's versions in order, and where it changed."""

from __future__ import annotations

import click

from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    database_path,
    format_option,
)


@click.command(short_help="Show an agent's versions in order, and where it changed.")
@click.argument("agent")
@benchmark_options
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show this metric. May be given several times.",
    show_default="accuracy, e2e_ms and cost_usd_per_task; of loads ttft_ms.p50, e2e_ms.p50 and "
    "request_throughput_per_s",
)
@database_option
@format_option()
def history(
    agent: str,
    suite: str | None,
    benchmark: str | None,
    metrics: tuple[str, ...],
    database: str | None,
    form: str,
) -> int:
    """Show the value of each version of AGENT with its interval, and where it changed.

    Each version is compared with the first one since the last change, by the rule of `agentbench
    compare`: one run of each version is enough where answers are compared case by case.

    \b
    agentbench history my-agent
    agentbench history my-agent --metric accuracy --suite support
    agentbench history my-agent --metric e2e_ms --format csv
    """
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.history import history_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.comparison.compare import check_metrics
    from agentbench_tui.verdicts.evidence.declared_metrics import declare_benchmark_metrics
    from agentbench_tui.verdicts.history.history_document import history_document
    from agentbench_tui.verdicts.history.version_history import version_histories

    with reading(database_path(database)) as connection:
        declare_benchmark_metrics(connection)
        check_metrics(metrics)
        found = version_histories(connection, agent, metrics, suite=suite, benchmark=benchmark)
        document = history_document(connection, agent, found)
    print_report(history_report(document), form, document)
    return 0
