"""A small simulated world of agents, and AgentFarm's experiments on it."""
