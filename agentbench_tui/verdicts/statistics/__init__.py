"""How sure numbers are, how many runs a question takes, and proof of both."""
