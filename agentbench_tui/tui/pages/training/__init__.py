"""Learning curves of training runs, read from files."""
