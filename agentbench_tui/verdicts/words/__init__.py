"""How numbers are written, and what metrics mean."""
