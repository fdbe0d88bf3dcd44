"""A suite file: read safely, validated, with the place of every key."""
