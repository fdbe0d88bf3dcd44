"""An experiment."""

import random
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)


@register_experiment("example_sorting")
class Sorting(Experiment):
    """Sorts numbers that are in order already, or not."""

    class Parameters(BaseModel):
        size: int = 200
        shuffled: bool = True

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "shuffled": {"shuffled": True},
        "ordered": {"shuffled": False},
    }

    def setup(self, context: ExperimentContext) -> None:
        self.numbers = list(range(self.params["size"]))
        if self.params["shuffled"]:
            random.Random(context.seed).shuffle(self.numbers)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"sorted": len(sorted(self.numbers))}
