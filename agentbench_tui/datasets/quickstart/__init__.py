"""The tasks of the quickstart suite: small, original, with known answers.

Each module holds one generator: a function of the seed, the same on every machine, that yields
records with `id`, `topic`, `input` and `expected` (and what its task needs besides). The files in
`suites/quickstart/` were written by `python -m agentbench_tui.datasets.quickstart FOLDER`.
"""
