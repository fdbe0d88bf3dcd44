"""`agentbench stats`: how sure numbers are, and how many runs a question takes."""
