"""Places, ratings and fronts of several agents."""
