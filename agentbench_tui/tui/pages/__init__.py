"""The pages of the session, each with the tables, plots and sentences that it shows."""
