"""Lines of forms, and the tree for choosing what to run."""
