"""One run: its document, its gates, how it stands while it goes on."""
