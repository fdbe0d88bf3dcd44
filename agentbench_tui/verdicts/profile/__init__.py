"""Where time, tokens and the machine went."""
