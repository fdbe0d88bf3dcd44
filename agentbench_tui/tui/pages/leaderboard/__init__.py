"""Who is best by what, and how sure that is."""
