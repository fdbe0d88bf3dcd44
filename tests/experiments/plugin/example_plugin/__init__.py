"""One of everything that agentbench lets others add."""
