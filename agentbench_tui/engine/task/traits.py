"""What the kind `task` says of itself."""

from agentbench_tui.model.kinds import Kind

KIND = Kind(
    name="task",
    summary="ask every case of a dataset, score each answer",
    runner="agentbench_tui.engine.task.task",
    needs=("dataset",),
    reads_dataset=True,
    judges_answers=True,
    plans_answers=True,
    compares_repeats=True,
)
