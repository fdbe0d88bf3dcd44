"""The click commands. They wire; they compute nothing."""
