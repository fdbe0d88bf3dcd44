"""What leaves the program for people to look at: plots for a terminal and for files."""
