"""What is asked about: agents, versions, runs, tags and files, and who stands on a board."""
