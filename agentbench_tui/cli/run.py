"""`agentbench run`: plan, carry out, say what came out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.numbers import ROWS, Dollars
from agentbench_tui.cli.output import FORMATS, database_option, stdout_kept
from agentbench_tui.model.bounds import (
    LARGEST_INTEGER,
    LARGEST_SEED,
    MOST_AT_ONCE,
    MOST_REPEATS,
    MOST_ROUNDS,
    MOST_SEEDS,
)

if TYPE_CHECKING:
    from agentbench_tui.engine.plan import Plan


@click.command(
    "run",
    short_help="Run suites against agents.",
    epilog="A second Ctrl-C stops at once; what was measured is kept and `agentbench resume` "
    "goes on with it.",
)
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="[ID[@VERSION]=]TARGET",
    help="Agent to run; may be given several times. By default those that the suite names.",
)
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID", help="Only this benchmark.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case.")
@click.option("--limit", type=ROWS, help="At most so many cases of each benchmark.")
@click.option(
    "--runs",
    type=click.IntRange(1, MOST_REPEATS),
    default=1,
    show_default=True,
    help="Repeats, each a fresh session.",
)
@click.option(
    "--iterations", type=click.IntRange(1, MOST_ROUNDS), help="Measured passes over the cases."
)
@click.option(
    "--warmup", type=click.IntRange(0, MOST_ROUNDS), help="Unmeasured rounds before them."
)
@click.option("--concurrency", type=click.IntRange(1, MOST_AT_ONCE), help="Cases asked at once.")
@click.option(
    "--seed",
    type=click.IntRange(-LARGEST_SEED, LARGEST_SEED),
    help="Seed; 42 unless the suite says otherwise.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, MOST_SEEDS),
    default=1,
    show_default=True,
    help="So many seeds, from --seed on.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="[BENCHMARK.]KEY=VALUE",
    help="Set a declared parameter of the suite.",
)
@click.option(
    "--prices", type=click.Path(path_type=Path), metavar="FILE", help="Prices of tokens, by model."
)
@click.option(
    "--hourly-price",
    type=Dollars(),
    metavar="USD",
    help="Price of an hour of the machine that serves the agents.",
)
@click.option("--max-cost", type=Dollars(above_zero=True), metavar="USD", help="Stop there.")
@click.option("--max-tokens", type=click.IntRange(1, LARGEST_INTEGER), help="Stop there.")
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Exit with 1 unless this holds, such as 'accuracy>=0.8' or 'e2e_ms.p95<=1200'.",
)
@click.option("--tag", "tags", multiple=True, help="Tag of the run, to find it by.")
@click.option("--notes", default="", help="A note kept with the run.")
@database_option
@click.option("--persist", metavar="FILE", help="With --db :memory:, write it here at the end.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--no-ui", is_flag=True, help="No live view: a line every few seconds.")
@click.option("--dry-run", is_flag=True, help="Validate and show the plan; run nothing.")
@click.option("--print-config", is_flag=True, help="Print the resolved plan as JSON; run nothing.")
@click.option("--detach", is_flag=True, help="Start the run, print its id and leave it running.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def run_command(suites: tuple[str, ...], **given: Any) -> int:
    """Run SUITEs (names or files) against agents and print scores and leaderboard.

    Without a SUITE it runs `default_suite` of agentbench.toml, else quickstart.

    \b
    agentbench run
    agentbench run quickstart --no-ui --format json
    agentbench run humaneval --agent openai:http://127.0.0.1:8000/v1#my-model --concurrency 16
    agentbench run my-suite.yaml --agent 'mine@2=python:my_agent:answer' --runs 5
    agentbench run gsm8k --set dataset=problems.jsonl --agent anthropic:#MODEL --max-cost 2
    """
    from agentbench_tui.cli import running

    with stdout_kept():
        plan = _plan(suites, given)
    if given["print_config"]:
        import msgspec

        from agentbench_tui.cli.output import print_json

        print_json(msgspec.to_builtins(plan))
        return 0
    if given["dry_run"]:
        running.print_plan(plan, given["form"])
        return 0
    how = running.How(
        form=given["form"],
        live=not given["no_ui"] and sys.stderr.isatty() and not given["quiet"],
        quiet=given["quiet"],
        detach=given["detach"],
    )
    return running.run_plan(plan, given["database"], given["persist"], how)


def _plan(suites: tuple[str, ...], given: dict[str, Any]) -> Plan:
    import shlex

    from agentbench_tui.engine.planning import RunOptions, default_suite, make_plan
    from agentbench_tui.model.gate import parse_gate
    from agentbench_tui.model.untrusted import redact

    for gate in given["gates"]:
        parse_gate(gate)
    options = RunOptions(
        agents=given["agents"],
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
        prices=given["prices"],
        hourly_price_usd=given["hourly_price"],
        cost_limit_usd=given["max_cost"],
        token_limit=given["max_tokens"],
        gates=given["gates"],
        tags=given["tags"],
        notes=given["notes"],
        command=redact("agentbench " + shlex.join(sys.argv[1:])),
    )
    return make_plan(suites or (default_suite(Path.cwd()),), options)


@click.command("carry-out", hidden=True)
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option("--db", "database", required=True)
@click.option("--resume", is_flag=True)
def carry_out_command(plan_file: Path, database: str, resume: bool) -> int:
    """Carry out a plan that another process of ours wrote, and remove its file."""
    from agentbench_tui.cli import running
    from agentbench_tui.engine.plan import decode_plan

    plan = decode_plan(plan_file.read_text())
    plan_file.unlink()
    if any(group.benchmark["kind"] == "load" for group in plan.groups):
        from agentbench_tui.load.worker_process import start_ahead

        start_ahead()
    return running.carry_out_quietly(plan, Path(database), resume=resume)
