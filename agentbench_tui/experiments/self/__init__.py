"""The cost of this tool itself, measured as experiments."""
