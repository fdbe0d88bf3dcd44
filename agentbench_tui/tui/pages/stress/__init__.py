"""Where an agent breaks, and how it recovers."""
