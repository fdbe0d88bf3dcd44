"""Use of time, tokens and the machine in one execution."""
