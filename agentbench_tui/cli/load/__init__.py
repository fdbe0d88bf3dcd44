"""`agentbench load`: puts load on targets."""
