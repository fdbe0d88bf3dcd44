"""Commands of the user as experiments."""
