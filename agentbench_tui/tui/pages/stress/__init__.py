"""Shows where an agent breaks, and how it recovers."""
