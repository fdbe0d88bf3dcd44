"""Commands of the user's as experiments."""
