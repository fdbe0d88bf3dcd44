-- Live view of loads: gaps between chunks and time spent waiting, a tick; NULL where not measured.

ALTER TABLE ticks ADD COLUMN itl_histogram BLOB;
ALTER TABLE ticks ADD COLUMN queue_histogram BLOB;
