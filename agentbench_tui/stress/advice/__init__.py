"""What to do about what a scenario found: rules over its report."""
