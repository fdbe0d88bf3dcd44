-- What tokens written to a prompt cache cost, beside what those read from it cost.

ALTER TABLE prices ADD COLUMN cache_write_usd_per_mtok REAL;
ALTER TABLE prices ADD COLUMN cache_write_1h_usd_per_mtok REAL;
