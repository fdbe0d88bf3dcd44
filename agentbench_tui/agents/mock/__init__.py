"""A model server for practice and calibration, whose timing is known: `agentbench mock`."""
