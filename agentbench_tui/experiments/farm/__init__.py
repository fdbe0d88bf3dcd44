"""A small world of agents, and AgentFarm's experiments on it."""
