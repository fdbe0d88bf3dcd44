"""Learning curves of training runs, summarized and compared."""
