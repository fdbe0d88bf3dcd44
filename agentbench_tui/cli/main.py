"""The command `agentbench`. Commands are imported when they are called, so `--help` is cheap."""

from __future__ import annotations

import errno
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

import agentbench_tui.model.clock  # noqa: F401  # before any code of the user's
from agentbench_tui import __version__
from agentbench_tui.cli.command_traits import measures, only_computes, runs_user_code
from agentbench_tui.cli.completion import complete, is_asked, offer_values
from agentbench_tui.cli.console.fault import report_broken, report_fault, report_unreportable
from agentbench_tui.cli.console.streams import discard_unwritable, is_closed_output, make_usable
from agentbench_tui.cli.option_synonyms import with_synonym
from agentbench_tui.model.errors import (
    ENVIRONMENT_ERRORS,
    AgentbenchError,
    Unmeasured,
    UsageError,
)
from agentbench_tui.model.interpreter_state import restore
from agentbench_tui.model.process_exit import ProcessExit, end_with, guard

_WRONG_PATH = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}
"""System errors that another path or option avoids: usage errors."""
_READER_GONE = 141
"""Exit code when the reader of the output closes the pipe: as if SIGPIPE had ended the process."""
COMMANDS = {
    "run": ("agentbench_tui.cli.run.command:run_command", "Run suites against agents."),
    "load": (
        "agentbench_tui.cli.load.command:load_command",
        "Load-test targets: latency, throughput, and which is faster.",
    ),
    "stress": (
        "agentbench_tui.cli.stress.command:stress_command",
        "Find the breaking point of a target, and why it breaks.",
    ),
    "experiments": (
        "agentbench_tui.cli.experiments.command:experiments",
        "List experiments and measure code.",
    ),
    "time": (
        "agentbench_tui.cli.time.command:time_command",
        "Measure how long commands take, and which is faster.",
    ),
    "market": (
        "agentbench_tui.cli.market.command:market",
        "Generate market worlds and let agents play them.",
    ),
    "resume": ("agentbench_tui.cli.run.resume:resume", "Continue an interrupted run."),
    "rerun": (
        "agentbench_tui.cli.run.rerun:rerun",
        "Ask only what failed, or what was wrong, again.",
    ),
    "rescore": (
        "agentbench_tui.cli.run.resume:rescore",
        "Score the stored answers of a run again.",
    ),
    "runs": ("agentbench_tui.cli.runs.command:runs", "List, show, delete, export and import runs."),
    "compare": (
        "agentbench_tui.cli.compare.command:compare",
        "Compare agents, versions or runs: is B better than A?",
    ),
    "report": (
        "agentbench_tui.cli.report:report",
        "Write a run or a comparison as report files.",
    ),
    "leaderboard": (
        "agentbench_tui.cli.leaderboard.command:leaderboard",
        "Rank agents by their scores.",
    ),
    "stats": (
        "agentbench_tui.cli.stats.command:stats",
        "Show intervals, variance and required sample sizes.",
    ),
    "regressions": (
        "agentbench_tui.cli.regressions:regressions",
        "Check whether an agent has become worse.",
    ),
    "gate": ("agentbench_tui.cli.gate:gate", "Check gates on a stored run."),
    "history": (
        "agentbench_tui.cli.history:history",
        "Show an agent's versions in order, and where it changed.",
    ),
    "baseline": (
        "agentbench_tui.cli.baseline:baseline",
        "Manage the baselines that regressions are judged against.",
    ),
    "cost": (
        "agentbench_tui.cli.cost:cost",
        "Show the cost of correct answers, and possible savings.",
    ),
    "judge": (
        "agentbench_tui.cli.judge:judge",
        "Check a judge against answers that people labeled.",
    ),
    "profile": ("agentbench_tui.cli.profile:profile", "Show where time and tokens went."),
    "agents": ("agentbench_tui.cli.agents:agents", "List agents and check targets."),
    "suites": ("agentbench_tui.cli.suites:suites", "Validate, show, list and create suites."),
    "explain": (
        "agentbench_tui.cli.explain:explain",
        "Explain what a metric, score or term means.",
    ),
    "schema": (
        "agentbench_tui.cli.schema:schema",
        "Print the JSON Schema of a printed document.",
    ),
    "serve": ("agentbench_tui.cli.serve:serve", "Serve results and runs over HTTP."),
    "push": ("agentbench_tui.cli.push:push", "Send runs to a service."),
    "mock": ("agentbench_tui.cli.mock:mock", "Serve a simulated model for practice."),
    "doctor": (
        "agentbench_tui.cli.doctor:doctor",
        "Check whether this machine is fit to measure on.",
    ),
    "completion": (
        "agentbench_tui.cli.completion:completion",
        "Print a shell completion script.",
    ),
    "session": ("agentbench_tui.cli.session:session", "Open the interactive session."),
    "attach": ("agentbench_tui.cli.run.attach:attach", "Watch a run that another command started."),
    "open": ("agentbench_tui.cli.session:open_", "Open a finished run, or replay it."),
    "carry-out": ("agentbench_tui.cli.run.command:carry_out_command", ""),
}
"""Name → (module:attribute, line in `--help`); no line, not listed."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return [name for name, (_, line) in COMMANDS.items() if line]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        _name_variables(command, f"AGENTBENCH_{cmd_name}")
        if is_asked():
            offer_values(command)
        return command

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _reader_may_close():  # `--help` and `--version` print here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _reader_may_close():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from agentbench_tui.model.errors import did_you_mean

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = (
                _run_of_suite(args[0])
                or did_you_mean(args[0], self.list_commands(ctx))
                or _part_of_group(self, ctx, args[0])
            )
            raise click.UsageError(f"no command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items() if line])


def _part_of_group(main: LazyGroup, ctx: click.Context, word: str) -> str:
    """Return the commands of groups by this name, such as `runs show`; empty without any."""
    groups = ((name, main.get_command(ctx, name)) for name in main.list_commands(ctx))
    found = [
        f"`agentbench {name} {word}`"
        for name, group in groups
        if isinstance(group, click.Group) and word in group.commands
    ]
    return f"; there is {', '.join(found)}" if found else ""


def _run_of_suite(word: str) -> str:
    """Return how the suite that a word names is run; empty if there is none by that name."""
    from agentbench_tui.engine.suite.catalog import find_suite

    try:
        find_suite(word)
    except AgentbenchError:
        return ""
    return f"; for the suite, use `agentbench run {word}`"


@contextmanager
def _reader_may_close() -> Iterator[None]:
    """Exit with 141 if the output has no reader: click would exit with 1, like a failed gate."""
    try:
        yield
    except BrokenPipeError:
        raise click.exceptions.Exit(_READER_GONE) from None


def _name_variables(command: click.Command, name: str) -> None:
    """Let every option be set by `AGENTBENCH_COMMAND_OPTION`, named after its flag."""
    if isinstance(command, click.Group):
        for sub_name, sub_command in command.commands.items():
            _name_variables(sub_command, f"{name}_{sub_name}")
    for option in command.params:
        flags = [flag for flag in option.opts if flag.startswith("--")]
        if isinstance(option, click.Option) and option.envvar is None and flags:
            option.envvar = f"{name}_{flags[0][2:]}".replace("-", "_").upper()


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog="Every option can also be set by an environment variable AGENTBENCH_COMMAND_OPTION, "
    "such as AGENTBENCH_RUN_SEED or AGENTBENCH_RUNS_LIST_FORMAT; separate several values with "
    "spaces. --db is set by AGENTBENCH_DB.",
)
@click.version_option(__version__, prog_name="agentbench")
def main() -> None:
    """Benchmark AI agents: are they correct, fast, cheap and reliable?

    \b
    Try it:     agentbench run quickstart
    Your data:  agentbench suites new my-suite.yaml --from questions.csv
    Your agent: agentbench run my-suite.yaml --agent python:my_agent.py:answer
    Your model: agentbench load openai:URL#MODEL --rate 20
    Afterwards: agentbench runs show latest --wrong, agentbench leaderboard
    """


def run() -> NoReturn:
    """Entry point of `agentbench`: run the command and convert every error to its exit code."""
    make_usable()
    arguments = sys.argv[1:]
    if runs_user_code(arguments):
        from agentbench_tui.cli.console.abrupt_end import exit_code_of
        from agentbench_tui.process.supervision import supervised

        _end(exit_code_of(supervised(lambda: _run(arguments))))
    if only_computes(arguments):
        from agentbench_tui.process.blas_threads import ask_for_one_thread

        ask_for_one_thread()
    _end(_run(arguments))


def _end(code: int) -> NoReturn:
    # Else Python looks for garbage in all that was imported once more, for a tenth of a second.
    gc.freeze()
    end_with(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """Run the command and flush its output; return the exit code."""
    guard()
    if is_asked():
        code = complete(main)
        discard_unwritable()
        return code
    try:
        code = _exit_code_of(arguments)
        # Without PYTHONUNBUFFERED a short result is still in the buffer. Python would write it at
        # exit, and turn a failure into exit code 120.
        sys.stdout.flush()
    except BrokenPipeError:
        code = _READER_GONE
    except OSError as error:
        code = _report_error(error, arguments)
    except Exception as error:  # noqa: BLE001  # what reports errors has failed
        code = report_unreportable(error)
    discard_unwritable()
    return code


def _exit_code_of(arguments: list[str]) -> int:
    try:
        _check_text(arguments)
        result = main.main(arguments, prog_name="agentbench", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return 130
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            error = with_synonym(error)
        error.show()
        return error.exit_code
    except AgentbenchError as error:
        from agentbench_tui.model.text.secrets import redact
        from agentbench_tui.model.text.untrusted import visible

        click.echo(f"agentbench: {visible(redact(str(error)))}", err=True)
        return error.exit_code
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return 130
    # Code of the user's raised it: no one may take it for an end of ours.
    except (SystemExit, ProcessExit) as exit_:
        return report_fault(exit_, arguments)
    except Exception as error:  # noqa: BLE001  # a fault of ours: one line and a report
        if broken := restore():
            return report_broken(error, broken)
        if isinstance(error, OSError) or not _excludes_damage():
            return _report_error(error, arguments)
        if measures(arguments):
            click.echo(
                "agentbench: measurements are kept and were not repeated; delete the damaged "
                "runs with `agentbench runs delete`, then run `agentbench runs show`",
                err=True,
            )
            return Unmeasured.exit_code
        return _exit_code_of(arguments)
    return result if isinstance(result, int) else 0


def _excludes_damage() -> bool:
    """Return whether a database that was read has damaged runs, which are excluded from now on."""
    if "agentbench_tui.store.damage" not in sys.modules:
        return False
    from agentbench_tui.model.text.untrusted import visible
    from agentbench_tui.store.damage import exclude_damaged
    from agentbench_tui.verdicts.evidence.stored_documents import stored_soundness

    lines = exclude_damaged(stored_soundness())
    for line in lines:
        click.echo(f"agentbench: {visible(line)}", err=True)
    return bool(lines)


def _report_error(error: Exception, arguments: list[str]) -> int:
    """Print what the user can do about a system error, or report a bug; return the exit code."""
    is_closed = isinstance(error, OSError) and is_closed_output(error)
    circumstance = "output: standard output is closed" if is_closed else _circumstance(error)
    if circumstance is None:
        return report_fault(error, arguments)
    discard_unwritable()  # so that the same output does not fail again at the end
    with suppress(OSError):  # it may be stderr that cannot be written
        click.echo(f"agentbench: {circumstance}", err=True)
    is_environment = isinstance(error, OSError) and error.errno in ENVIRONMENT_ERRORS
    if is_closed:
        return Unmeasured.exit_code
    return Unmeasured.exit_code if is_environment else UsageError.exit_code


def _check_text(arguments: list[str]) -> None:
    """Raise UsageError for an argument that is not valid text, which could not be stored."""
    for argument in arguments:
        if not argument.isascii() and any("\ud800" <= one <= "\udfff" for one in argument):
            raise UsageError(f"argument is not UTF-8 text: {argument[:80]!r}")


def _circumstance(error: Exception) -> str | None:
    """Describe a system error that the user can fix; None for a bug in agentbench."""
    if not isinstance(error, OSError):
        return None
    try:
        Path.cwd()
    except FileNotFoundError:
        return "the current folder no longer exists; change to another folder"
    if error.errno not in _WRONG_PATH | ENVIRONMENT_ERRORS:
        return None
    where = error.filename if isinstance(error.filename, str) else "output"
    return f"{where}: {(error.strerror or str(error)).lower()}"


def run_interactive() -> NoReturn:
    """Entry point of `agentbench-tui`: the terminal session."""
    make_usable()
    _end(_run(["session", *sys.argv[1:]]))
