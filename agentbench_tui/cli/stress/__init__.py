"""`agentbench stress`: finds where a target breaks."""
