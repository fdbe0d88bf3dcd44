"""One run: its document, its gates, its state while it is running."""
