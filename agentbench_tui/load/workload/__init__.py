"""Content of requests: prompts, sessions, traces."""
