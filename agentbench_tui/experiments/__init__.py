"""Experiments: benchmarks of code rather than of agents."""
