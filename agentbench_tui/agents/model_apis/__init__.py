"""Model APIs over HTTP: dialects, transcripts, token counts."""
