-- Stress: what a scenario found, written again after each window, so that a kill loses one at most.

CREATE TABLE stress_reports (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    document TEXT NOT NULL              -- stress.report.ScenarioReport, JSON
) STRICT;
