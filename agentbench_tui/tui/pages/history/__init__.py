"""Shows whether an agent is better or worse than before, and since when."""
