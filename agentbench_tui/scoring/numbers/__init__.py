"""Numbers and expressions in texts, compared by value."""
