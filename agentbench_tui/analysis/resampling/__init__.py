"""Bootstrap, permutations and flipped signs."""
