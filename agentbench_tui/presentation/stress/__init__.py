"""What stress looks like: its sentences, and the verdict on a run of it."""
