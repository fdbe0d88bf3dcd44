"""An agent's versions in order: the value of each, and where it changed."""
