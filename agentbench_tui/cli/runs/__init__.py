"""`agentbench runs`: stored runs, and runs as files."""
