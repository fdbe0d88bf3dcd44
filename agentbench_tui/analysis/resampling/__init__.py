"""Bootstrap, permutations and sign flips."""
