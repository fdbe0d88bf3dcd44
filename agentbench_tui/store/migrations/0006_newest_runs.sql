-- The newest runs are found without reading every run's plan.

CREATE INDEX runs_started ON runs (started_at, key);
