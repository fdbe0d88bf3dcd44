"""Learning curves of training runs, summed up and compared."""
