"""From the store to answers: leaderboard, documents, gates, explanations."""
