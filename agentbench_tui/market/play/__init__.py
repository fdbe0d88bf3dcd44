"""One game: the account, the actions of an agent, the clock, the record."""
