"""`agentbench run` and `resume`: plan, carry out, say what came out."""
