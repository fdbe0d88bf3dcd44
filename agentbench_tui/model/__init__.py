"""Plain data and protocols shared by every package. Imports nothing of ours."""
