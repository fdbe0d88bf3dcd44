"""`agentbench runs`: what has been run, and runs as files."""
