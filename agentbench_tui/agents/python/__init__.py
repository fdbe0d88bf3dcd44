"""Python agents: in our process, or in one of their own."""
