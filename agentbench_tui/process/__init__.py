"""Spawning, limiting and ending the processes of local agents."""
