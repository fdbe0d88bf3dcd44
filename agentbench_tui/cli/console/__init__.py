"""Input and output of commands: streams, rows in five formats, questions, numbers."""
