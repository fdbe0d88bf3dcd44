-- When a run came from a file of another database; empty for runs that were made here.

ALTER TABLE runs ADD COLUMN imported_at TEXT;
