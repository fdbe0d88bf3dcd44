"""`agentbench experiments`: what code can be measured here, and measuring it."""
