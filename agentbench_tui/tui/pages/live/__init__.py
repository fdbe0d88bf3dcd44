"""One run as it goes on, or again at any speed."""
