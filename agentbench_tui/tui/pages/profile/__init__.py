"""Where the time, the tokens and the machine of one execution go."""
