"""From a suite file to a finished run."""
