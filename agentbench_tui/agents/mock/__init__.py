"""A model server with known timing, for practice and calibration: `agentbench mock`."""
