"""Output for people: plots for a terminal and for files."""
