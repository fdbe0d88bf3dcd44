"""`agentbench stats`: uncertainty of numbers, and sample sizes."""
