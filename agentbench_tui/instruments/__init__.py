"""Facts about the machine, and samples of its resources during a run."""
