"""What can be asked of the store, by noun."""
