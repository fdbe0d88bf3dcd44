-- An execution of a rerun names the execution of another run, by its id, that it continues.
-- `replaces`: it holds the answers of that one, with new answers in place of failures of the
-- infrastructure; once it is complete, histories read it instead of that one.
-- `attempts_after`: it holds only further attempts at answers of that one that were not right, so it
-- is never complete.
ALTER TABLE benchmark_executions ADD COLUMN replaces TEXT;
ALTER TABLE benchmark_executions ADD COLUMN attempts_after TEXT;
CREATE INDEX executions_replacing ON benchmark_executions (replaces) WHERE replaces IS NOT NULL;
