"""What answers and right answers cost, and what would save."""
