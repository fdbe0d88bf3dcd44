"""`agentbench run`: plan, execute, and print the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import stdout_kept
from agentbench_tui.cli.console.token_prices import by_narrowness
from agentbench_tui.cli.run.breakdown import by_options
from agentbench_tui.cli.run.options import check_gates, command_line, how_of, run_options
from agentbench_tui.cli.run.report import ReportKinds, make_folder, with_report
from agentbench_tui.model.bounds import MOST_AT_ONCE, MOST_ROUNDS, MOST_SEEDS
from agentbench_tui.model.importing import importing
from agentbench_tui.model.kinds import kind_named

if TYPE_CHECKING:
    from agentbench_tui.cli.run.running import How
    from agentbench_tui.engine.run.plan import Plan


@click.command(
    "run",
    short_help="Run suites against agents.",
    epilog="Press Ctrl-C twice to stop at once. Measurements so far are kept, and `agentbench "
    "resume` continues the run.",
)
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="[ID[@VERSION]=]TARGET",
    help="Agent to run, or the id of an agent in the suite. May be given several times.",
    show_default="all agents of the suite",
)
@click.option(
    "--stub", is_flag=True, help="Run the practice agent, whose results are marked as simulated."
)
@click.option(
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="ID",
    help="Run only this benchmark. May be given several times.",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    help="Run only this case. May be given several times.",
)
@click.option(
    "--limit", type=ROWS, help="Maximum number of cases of each benchmark.", show_default="all"
)
@click.option(
    "--iterations",
    type=click.IntRange(1, MOST_ROUNDS),
    help="Number of measured passes over the cases in each repeat: attempts at each case. With "
    "several, the result has pass@k and pass^k.",
    show_default="set by the suite",
)
@click.option(
    "--warmup",
    type=click.IntRange(0, MOST_ROUNDS),
    help="Number of unmeasured passes over the cases before the measured ones.",
    show_default="set by the suite",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, MOST_AT_ONCE),
    help="Maximum number of cases in flight.",
    show_default="set by the suite",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, MOST_SEEDS),
    default=1,
    show_default=True,
    help="Number of seeds: --seed and the ones that follow it.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="[BENCHMARK.]KEY=VALUE",
    help="Set a declared parameter of the suite. May be given several times.",
)
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="FILE",
    help="Run an AgentFarm specification as a suite, and write its results as JSON. May be "
    "given several times.",
)
@click.option("--list", "list_only", is_flag=True, help="List the experiments and exit.")
@click.option(
    "--compare",
    "compared",
    nargs=2,
    metavar="A B",
    help="Compare two result files and exit.",
)
@click.option(
    "--reporter",
    "reporters",
    multiple=True,
    metavar="NAME",
    help="Reporter that writes the results of experiments to the suite's `output_dir`: "
    "python:FILE:NAME, or one from a plug-in. May be given several times.",
)
@click.option(
    "--report",
    type=ReportKinds(),
    metavar="[json|html|md|both],…",
    help="Also write the results to benchmark_results.json, .html or .md. Separate several "
    "formats with commas; `both` means json,html.",
)
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default="benchmark_results",
    show_default=True,
    help="Folder for the files of --report.",
)
@by_options
@click.option(
    "--full", is_flag=True, help="Also print every figure of every agent on every benchmark."
)
@click.option("--print-config", is_flag=True, help="Print the resolved plan as JSON and exit.")
@run_options
def run_command(suites: tuple[str, ...], **given: Any) -> int:
    """Run SUITEs (names or files) against agents and print scores and a leaderboard.

    Without a SUITE, run the `default_suite` of agentbench.toml, else quickstart.

    \b
    agentbench run
    agentbench run quickstart --no-ui --format json
    agentbench run humaneval --agent openai:http://127.0.0.1:8000/v1#my-model --concurrency 16
    agentbench run my-suite.yaml --agent 'mine@2=python:my_agent:answer' --runs 5
    agentbench run my-suite.yaml --by difficulty
    agentbench run gsm8k --set dataset=problems.jsonl --agent anthropic:#MODEL --max-cost 2
    """
    from agentbench_tui.cli.run import running

    if given["list_only"]:
        from agentbench_tui.cli.experiments.command import print_list

        print_list(given["form"])
        return 0
    if given["compared"]:
        return _compare(given)
    source = click.get_current_context().get_parameter_source("output")
    if given["report"] is None and source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--output needs --report, which selects the files to write")
    with stdout_kept():
        plan = _plan((*suites, *given["specs"]), given)
    if given["by"] is not None:
        from agentbench_tui.cli.run.breakdown import check_field

        check_field(plan, given["by"])
    if given["print_config"]:
        import msgspec

        from agentbench_tui.cli.console.output import print_json

        print_json(msgspec.to_builtins(plan))
        return 0
    if given["dry_run"]:
        from agentbench_tui.cli.load.limits import warn_of_plan
        from agentbench_tui.cli.run.plan import print_plan

        print_plan(plan, given["form"])
        warn_of_plan(plan, given["database"])
        return 0
    return running.run_plan(plan, given["database"], given["persist"], _how(plan, given))


def _how(plan: Plan, given: dict[str, Any]) -> How:
    """Return how the run is shown; results of experiments and a report are written as well."""
    from agentbench_tui.cli.experiments.result import are_idle, experiments_shown

    how = experiments_shown(plan, how_of(given), given["reporters"])
    if are_idle(plan, given["agents"]):
        click.echo("note: --agent has no effect, because the whole run measures code", err=True)
    if given["reporters"] and how.show is None:
        raise click.UsageError("--reporter is for experiments, but the run has none")
    if how.show is None and given["full"]:
        from agentbench_tui.cli.run.running import show_run

        how = msgspec.structs.replace(how, show=show_run(full=True))
    for option in ("by", "report"):
        if given[option] is not None and how.detach:
            raise click.UsageError(
                f"--{option} applies at the end of the run, so it cannot be combined with --detach"
            )
    if given["by"] is not None:
        from agentbench_tui.cli.run.breakdown import with_breakdown

        shown = with_breakdown(how.show, given["by"], given["by_limit"])
        how = msgspec.structs.replace(how, show=shown)
    if given["report"] is None:
        return how
    make_folder(given["output"])
    by = None if given["by"] is None else (given["by"], given["by_limit"])
    shown = with_report(how.show, given["report"], given["output"], by)
    return msgspec.structs.replace(how, show=shown)


def _compare(given: dict[str, Any]) -> int:
    """Run `--compare A B` like `agentbench compare file:A file:B`."""
    from agentbench_tui.cli.compare.command import compare

    sides = [one if ":" in one else f"file:{one}" for one in given["compared"]]
    result: int = compare.main(
        [*sides, "--format", given["form"]], "agentbench compare", standalone_mode=False
    )
    return result


def _plan(suites: tuple[str, ...], given: dict[str, Any]) -> Plan:
    with importing():
        from agentbench_tui.engine.run.planning import RunOptions, default_suite, make_plan
        from agentbench_tui.model.suite import Suite  # noqa: F401  # pydantic, with its models

    check_gates(given, names=False)
    options = RunOptions(
        agents=(*given["agents"], *(("stub=mock",) if given["stub"] else ())),
        benchmarks=given["benchmarks"],
        cases=given["cases"],
        repeats=given["runs"],
        iterations=given["iterations"],
        warmup=given["warmup"],
        limit=given["limit"],
        seed=given["seed"],
        seeds=given["seeds"],
        concurrency=given["concurrency"],
        settings=given["settings"],
        token_prices=by_narrowness(given["token_prices"]),
        prices=given["prices"],
        hourly_price_usd=given["hourly_price"],
        cost_limit_usd=given["max_cost"],
        token_limit=given["max_tokens"],
        gates=given["gates"],
        tags=given["tags"],
        notes=given["notes"],
        command=command_line(),
    )
    with importing():
        plan = make_plan(suites or (default_suite(Path.cwd()),), options)
    check_gates(given)
    return plan


@click.command("carry-out", hidden=True)
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option("--db", "database", required=True)
@click.option("--resume", is_flag=True)
def carry_out_command(plan_file: Path, database: str, resume: bool) -> int:
    """Execute a plan that another agentbench process wrote, and remove its file."""
    from agentbench_tui.cli.run import running
    from agentbench_tui.engine.run.plan import decode_plan

    plan = decode_plan(plan_file.read_text(encoding="utf-8"))
    plan_file.unlink()
    if any(kind_named(group.benchmark["kind"]).sends_load for group in plan.groups):
        from agentbench_tui.load.sending.worker_process import start_ahead

        start_ahead()
    return running.carry_out_quietly(plan, Path(database), resume=resume)
