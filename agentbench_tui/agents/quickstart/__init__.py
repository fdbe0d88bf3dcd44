"""Four small agents that are real programs, compared by the quickstart suite.

They solve the quickstart tasks (`agentbench_tui.datasets.quickstart`) from the text alone, each
in its own way, so that they differ in accuracy, speed, cost and reliability for real:

- `keyword` looks for cue words: quick, cheap, often wrong.
- `rules` reads quantities, dates and labels by fixed rules: quick, mostly right.
- `planner` plans steps and runs tools in a process of its own: slower, most often right.
- `memory` remembers the cases it has met and works by likeness; its search table grows with the
  input, beyond any sensible limit for long ones.

Each runs as `python -m agentbench_tui.agents.quickstart.NAME` and imports nothing beyond the
standard library.
"""
