"""What a task and a right answer cost."""
