"""Choose what to measure and how, and start it."""
