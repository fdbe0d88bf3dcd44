"""SQLite: schema, one writer, read-only viewers, leases. The database is the bus."""
