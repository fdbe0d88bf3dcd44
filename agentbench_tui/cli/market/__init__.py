"""`agentbench market`: market worlds that agents play."""
