"""Two or more sides, metric by metric, in pictures, and case by case."""
