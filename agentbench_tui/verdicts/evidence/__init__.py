"""Stored executions as arrays, read once: the input of every verdict."""
