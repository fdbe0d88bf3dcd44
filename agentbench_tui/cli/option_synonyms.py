"""Names that options have in other tools, so that an unknown option is answered with ours."""

from __future__ import annotations

import click

_SYNONYMS = {
    "--runs": ("repeat", "repeats", "repetitions", "trials", "epochs", "rounds", "num-runs"),
    "--agent": ("agents", "model", "models", "target", "provider"),
    "--rate": ("qps", "rps", "request-rate", "requests-per-second"),
    "--concurrency": ("users", "vus", "connections", "max-concurrency"),
    "--requests": ("num-prompts", "num-requests", "request-count"),
    "--fail-on": ("gate", "gates", "threshold", "assert", "fail-under", "fail-below"),
    "--seed": ("random-seed", "random-state"),
    "--format": ("json", "csv", "markdown", "output-format"),
    "--db": ("database",),
    "--by": ("group-by",),
    "--quiet": ("silent",),
}
"""Option of ours → names of it in other tools, without dashes."""


def with_synonym(error: click.NoSuchOption) -> click.NoSuchOption:
    """Return the error, naming the command's option that has this name in another tool.

    Other names keep the suggestions of click, which are those of similar spelling.
    """
    typed = error.option_name.lstrip("-").replace("_", "-").lower()
    if error.ctx is None:
        return error
    own = {flag for parameter in error.ctx.command.params for flag in parameter.opts}
    for option, names in _SYNONYMS.items():
        if typed in names and option in own:
            message = f"No such option '{error.option_name}'; use {option}."
            return click.NoSuchOption(error.option_name, message, ctx=error.ctx)
    return error
