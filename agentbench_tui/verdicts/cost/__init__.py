"""Costs of tasks and of right answers, and possible savings."""
