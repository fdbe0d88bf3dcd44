"""Choose what is measured and how, and start it."""
