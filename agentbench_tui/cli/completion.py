"""`agentbench completion SHELL`: the script that teaches a shell to complete our commands."""

import click

COMMAND = "agentbench"
COMPLETE_VARIABLE = "_AGENTBENCH_COMPLETE"
"""Set by the script when it asks us for words; click answers it before any command runs."""


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes agentbench's commands and options in SHELL.

    \b
    Once, for the shell at hand:
      bash   eval "$(agentbench completion bash)"
      zsh    eval "$(agentbench completion zsh)"
      fish   agentbench completion fish | source

    \b
    For every new shell, put that line into ~/.bashrc or ~/.zshrc; for fish:
      agentbench completion fish > ~/.config/fish/completions/agentbench.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None, "the choices above are those click knows"
    root = ctx.find_root().command
    click.echo(script(root, {}, COMMAND, COMPLETE_VARIABLE).source())
