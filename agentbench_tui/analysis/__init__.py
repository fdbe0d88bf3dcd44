"""Statistics as pure functions on arrays. Knows nothing of files, stores or agents."""
