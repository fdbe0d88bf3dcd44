"""The terminal session. It reads the store and starts runs; it measures nothing."""
