-- Load: raw samples as compressed chunks of columns, never a row per sample.

CREATE TABLE sample_chunks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    samples BLOB NOT NULL,              -- load.sample.pack_rows
    gaps BLOB NOT NULL                  -- load.sample.pack_gaps
) STRICT;
CREATE INDEX sample_chunks_run ON sample_chunks (run_key, seq);
CREATE INDEX sample_chunks_execution ON sample_chunks (execution_key, repeat, seq);

-- One finished repeat of a load execution; chunks of a repeat without a row are of one cut off.
CREATE TABLE load_windows (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    document TEXT NOT NULL,             -- load.window.Window, JSON
    PRIMARY KEY (execution_key, repeat)
) STRICT, WITHOUT ROWID;

CREATE TABLE load_summaries (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    verdict TEXT NOT NULL,              -- clean | noisy | generator-limited
    document TEXT NOT NULL              -- load.summary.LoadSummary, JSON
) STRICT;

-- The harness's own ceiling, to warn before a plan that asks for more than it can do.
CREATE TABLE calibrations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER REFERENCES runs (key) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,          -- of the machine, as in environments
    document TEXT NOT NULL              -- load.window.Calibration, JSON
) STRICT;
CREATE INDEX calibrations_machine ON calibrations (fingerprint, seq);

ALTER TABLE ticks ADD COLUMN repeat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ticks ADD COLUMN sent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ticks ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ticks ADD COLUMN ttft_histogram BLOB;
