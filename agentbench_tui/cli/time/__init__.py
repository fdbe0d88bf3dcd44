"""`agentbench time`."""
