"""What commands print on and read from: streams, rows in five formats, questions, numbers."""
