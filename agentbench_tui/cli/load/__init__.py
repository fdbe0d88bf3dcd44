"""`agentbench load`: put load on one target."""
