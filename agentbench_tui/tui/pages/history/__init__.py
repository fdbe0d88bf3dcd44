"""Is an agent better or worse than before, and since when."""
