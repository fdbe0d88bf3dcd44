"""Lines of forms, and the tree in which one chooses what to run."""
