"""A world: generated from a config, with its truth, as bytes and files."""
