"""What a comparison looks like: its wording, its verdict, and its tables for a terminal."""
