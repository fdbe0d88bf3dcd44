"""Local programs: spawning, limits, killing process trees, the JSON-lines worker."""
