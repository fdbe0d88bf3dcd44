"""`agentbench leaderboard`: agents by their latest executions."""
