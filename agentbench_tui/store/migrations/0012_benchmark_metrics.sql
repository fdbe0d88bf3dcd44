-- Metrics that a benchmark defines: one for each of its scorers, and its own.

ALTER TABLE answers ADD COLUMN figures TEXT;    -- metric of the benchmark -> number, JSON

ALTER TABLE metrics ADD COLUMN direction TEXT;  -- of a metric that a benchmark defines: higher,
                                                -- lower or none; empty for agentbench's own

CREATE INDEX metrics_defined ON metrics (name, unit, direction) WHERE direction IS NOT NULL;
