"""`agentbench stress`: find where a target breaks."""
