"""Pages and tables of a market: what each agent did in each world."""
