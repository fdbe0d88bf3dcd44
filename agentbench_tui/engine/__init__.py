"""Takes a suite file to a finished run."""
