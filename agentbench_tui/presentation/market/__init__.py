"""Episodes of market worlds: the agents' results, one episode in detail, and the pages of both."""
