-- Baselines: what an agent is held against. Accepted changes: where a level of it begins anew.

CREATE TABLE baselines (
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,                 -- 'default' is the one that is used when none is named
    suite_id TEXT NOT NULL,             -- empty for every suite
    benchmark_id TEXT NOT NULL,         -- empty for every benchmark
    kind TEXT NOT NULL CHECK (kind IN ('version', 'run', 'tag')),
    target TEXT NOT NULL,               -- the version, the run's id, or the tag
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, name, suite_id, benchmark_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX baselines_target ON baselines (kind, target);

CREATE TABLE accepted_changes (
    agent_id TEXT NOT NULL,
    suite_id TEXT NOT NULL,
    benchmark_id TEXT NOT NULL,
    parameters TEXT NOT NULL,           -- as in benchmark_executions
    metric TEXT NOT NULL,
    since TEXT NOT NULL,                -- start of the first run that surely has the new level
    run_id TEXT NOT NULL,               -- of that run, which may have been deleted since
    before REAL NOT NULL,               -- the level before, in the metric's unit
    after REAL NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, suite_id, benchmark_id, parameters, metric, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_changes_run ON accepted_changes (run_id);
