"""A target under windows of load: opening it, its server, and its resource samples."""
