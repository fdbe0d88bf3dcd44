"""The click commands. They connect the other packages and compute nothing."""
