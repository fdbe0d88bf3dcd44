"""A target under windows of load: opening it, its server, what is read beside it."""
