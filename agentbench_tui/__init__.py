"""agentbench: is an AI agent right, fast, cheap and dependable?"""

__version__ = "0.1.0"
