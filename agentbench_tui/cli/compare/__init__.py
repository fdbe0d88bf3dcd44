"""`agentbench compare`: which is better, by how much, and with what confidence."""
