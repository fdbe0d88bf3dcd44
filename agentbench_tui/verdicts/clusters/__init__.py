"""Cases that belong together though nobody declared it."""
