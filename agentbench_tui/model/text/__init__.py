"""Text and files of others, read safely."""
