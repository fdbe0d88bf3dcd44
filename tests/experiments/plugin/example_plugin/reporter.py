"""A reporter, as AgentFarm has them."""

from pathlib import Path
from typing import Any


def report(results: list[Any], output_dir: str) -> None:
    with Path(output_dir, "custom_report.txt").open("w") as file:
        for result in results:
            mean = result.metrics.get("duration_s", {}).get("mean", 0)
            file.write(f"Experiment: {result.name} {result.variant} {mean > 0}\n")
