"""Cost of a task and of a right answer."""
