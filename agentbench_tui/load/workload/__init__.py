"""What requests say: prompts, sessions, traces."""
