"""Run a simulation with the recommended configuration and leave its journal for analysis.

python -m agentbench_tui.experiments.farm.run_with_recommended_config --steps 200 --agents 50
"""

from __future__ import annotations

from pathlib import Path

import click

from agentbench_tui.experiments.farm.simulation import get_recommended_config, simulate


@click.command()
@click.option("--steps", default=100, show_default=True, type=click.IntRange(1))
@click.option("--agents", default=30, show_default=True, type=click.IntRange(1))
@click.option(
    "--output",
    default="simulation_results",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the journal.",
)
@click.option("--seed", default=0, show_default=True)
def run_with_recommended_config(steps: int, agents: int, output: Path, seed: int) -> None:
    """Simulate, with the journal in memory until the end."""
    path = output / "simulation.db"
    if path.exists():
        raise click.ClickException(f"{path} is there already: name another --output")
    try:
        output.mkdir(parents=True, exist_ok=True)
        found = simulate(get_recommended_config(agents, steps, seed=seed), path)
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from error
    click.echo(
        f"{found.steps} steps in {found.total_s:.3f} s"
        f" (world {found.simulate_s:.3f}, journal {found.write_s:.3f}, file {found.persist_s:.3f});"
        f" {found.population} agents alive at the end"
    )
    click.echo(f"{found.rows} rows in {path}")


if __name__ == "__main__":
    run_with_recommended_config()
