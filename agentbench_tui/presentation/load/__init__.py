"""What a load looks like: its sentences, its report, and that of a search for a rate."""
