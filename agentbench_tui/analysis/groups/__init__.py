"""Groups of values: differences between them, and similarity within."""
