"""Local programs: spawning, limits, killing whole process trees, the JSON-lines worker."""
