"""Ranks, ratings and Pareto fronts of several agents."""
