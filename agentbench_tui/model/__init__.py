"""Plain data and protocols shared by every package. Imports no other agentbench package."""
