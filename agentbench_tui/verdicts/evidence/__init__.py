"""What stored executions say, read once, as arrays: the ground of every verdict."""
