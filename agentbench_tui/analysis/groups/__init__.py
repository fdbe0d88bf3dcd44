"""Groups of values: whether they differ, how alike they are within."""
