"""Selection of data: agents, versions, runs, tags and files, and the contenders of a
leaderboard.
"""
