"""Detection and use of clusters: cases that are correlated although nobody declared it."""
