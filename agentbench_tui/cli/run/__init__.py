"""`agentbench run` and `resume`: plan, execute, and print the result."""
