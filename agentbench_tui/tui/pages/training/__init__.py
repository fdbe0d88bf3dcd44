"""Learning curves of training runs, out of files."""
