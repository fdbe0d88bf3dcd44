"""`agentbench market`: worlds of markets that agents play."""
