"""Use of time, tokens and the machine."""
