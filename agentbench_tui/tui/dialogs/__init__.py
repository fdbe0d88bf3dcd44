"""Short questions and lists over a page."""
