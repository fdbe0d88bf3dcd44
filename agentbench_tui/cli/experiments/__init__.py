"""`agentbench experiments`: lists and runs measurements of code."""
