-- Schema 1. Times are UTC ISO 8601 text; durations carry their unit; JSON is text.
-- Rows that viewers follow have an AUTOINCREMENT `seq` and an index on (run_key, seq).

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE benchmark_suites (
    hash TEXT PRIMARY KEY,              -- sha256 of the resolved suite
    suite_id TEXT NOT NULL,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    version TEXT NOT NULL,
    description TEXT NOT NULL,
    document TEXT NOT NULL,             -- the resolved suite, JSON
    source TEXT,                        -- the file as it was written
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE benchmarks (
    suite_hash TEXT NOT NULL REFERENCES benchmark_suites (hash),
    benchmark_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    test_type TEXT NOT NULL,
    PRIMARY KEY (suite_hash, benchmark_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE agent_versions (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    version TEXT NOT NULL,
    specification TEXT NOT NULL,        -- model.agent.AgentSpec, JSON
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE environments (
    hash TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,          -- equal for machines whose timings may be compared
    document TEXT NOT NULL
) STRICT;

CREATE TABLE datasets (
    key INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,          -- of the selected cases, in the order they are asked
    source TEXT NOT NULL,
    cases INTEGER NOT NULL
) STRICT;

CREATE TABLE cases (
    key INTEGER PRIMARY KEY,
    dataset_key INTEGER NOT NULL REFERENCES datasets (key) ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    body TEXT NOT NULL,                 -- model.answer.Case, JSON
    UNIQUE (dataset_key, case_id)
) STRICT;
CREATE INDEX cases_dataset ON cases (dataset_key);  -- pages in order of key

CREATE TABLE runs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'incomplete', 'interrupted')),
    stop_reason TEXT,
    suite_ids TEXT NOT NULL,            -- JSON array
    plan TEXT NOT NULL,                 -- engine.plan.Plan, JSON: everything needed to resume
    command TEXT,                       -- the command line, secrets masked
    seed INTEGER NOT NULL,
    repeats INTEGER NOT NULL,
    tags TEXT NOT NULL,                 -- JSON array
    notes TEXT NOT NULL,
    environment_hash TEXT REFERENCES environments (hash),
    vcs TEXT,
    overhead TEXT,                      -- the harness's own share, JSON
    verdict TEXT,                       -- clean | noisy | generator-limited
    tool_version TEXT NOT NULL,
    lease TEXT,                         -- boot id and pid of the process that runs it, JSON
    started_at TEXT NOT NULL,
    ended_at TEXT,
    error TEXT
) STRICT;

CREATE TABLE benchmark_executions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,           -- place in the run's plan
    suite_hash TEXT NOT NULL REFERENCES benchmark_suites (hash),
    suite_id TEXT NOT NULL,
    benchmark_id TEXT NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    agent_version TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    parameters TEXT NOT NULL DEFAULT '{}',
    seed INTEGER NOT NULL,
    dataset_key INTEGER REFERENCES datasets (key),
    simulated INTEGER NOT NULL DEFAULT 0,

    execution_environment TEXT,         -- environments.hash
    model_configuration TEXT,           -- the agent's target and options, JSON

    start_time TEXT,
    end_time TEXT,
    total_duration_ms INTEGER,
    asking_s REAL,                      -- seconds in which questions were in flight

    accuracy_score REAL,
    speed_score REAL,
    efficiency_score REAL,
    cost_score REAL,
    reliability_score REAL,
    overall_score REAL,
    overall_low REAL,
    overall_high REAL,

    tokens_used INTEGER,
    api_calls_made INTEGER,
    memory_peak_mb REAL,
    cpu_usage_percent REAL,
    cpu_seconds REAL,
    cost_usd REAL,

    output_correctness REAL,
    output_completeness REAL,
    output_relevance REAL,

    percentile_rank REAL,
    deviation_from_baseline REAL,

    planned INTEGER NOT NULL DEFAULT 0, -- observations planned
    observed INTEGER NOT NULL DEFAULT 0,
    answered INTEGER NOT NULL DEFAULT 0,
    correct INTEGER NOT NULL DEFAULT 0,

    status TEXT NOT NULL CHECK (
        status IN ('planned', 'running', 'complete', 'incomplete', 'interrupted')
    ),
    stop_reason TEXT,
    error_details TEXT,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX idx_benchmark_exec_agent ON benchmark_executions (agent_id, created_at);
CREATE INDEX idx_benchmark_exec_suite ON benchmark_executions (suite_id, benchmark_id);
CREATE INDEX idx_benchmark_exec_scores ON benchmark_executions (accuracy_score, speed_score);
CREATE INDEX idx_benchmark_exec_run ON benchmark_executions (run_key, ordinal);

CREATE TABLE metrics (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value REAL,
    unit TEXT NOT NULL,
    low REAL,                           -- 95 % interval
    high REAL,
    n INTEGER NOT NULL,
    reason TEXT,                        -- why there is no value, or what is to be known of it
    PRIMARY KEY (execution_key, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE iterations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    warmup INTEGER NOT NULL,
    status TEXT NOT NULL,               -- ok | failed | stopped
    started_at TEXT NOT NULL,
    asking_s REAL NOT NULL,
    observed INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    correct INTEGER NOT NULL,
    cpu_seconds REAL,
    memory_peak_mb REAL
) STRICT;
CREATE INDEX iterations_run ON iterations (run_key, seq);
CREATE INDEX iterations_execution ON iterations (execution_key);

CREATE TABLE answers (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    case_key INTEGER NOT NULL REFERENCES cases (key),
    repeat INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,           -- the last attempt, from 0
    failure_kind TEXT,                  -- empty when answered
    sent_ms REAL NOT NULL,              -- since the start of the run's process
    e2e_ms REAL,
    waiting_ms REAL NOT NULL,
    ttft_ms REAL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    reasoning_tokens INTEGER,
    tokens_estimated INTEGER NOT NULL DEFAULT 0,
    api_calls INTEGER NOT NULL,
    cost_usd REAL,
    credit REAL,                        -- of the primary scorer, 0..1
    correct INTEGER,
    answer TEXT,                        -- model.answer.Answer, JSON
    scores TEXT                         -- array of model.answer.Score, JSON
) STRICT;
CREATE UNIQUE INDEX answers_observation
    ON answers (execution_key, case_key, repeat, iteration);
CREATE INDEX answers_run ON answers (run_key, seq);

CREATE TABLE messages (
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    case_key INTEGER NOT NULL REFERENCES cases (key),
    repeat INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    tool_calls TEXT,
    tool_call_id TEXT,
    PRIMARY KEY (execution_key, case_key, repeat, iteration, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    case_key INTEGER NOT NULL REFERENCES cases (key),
    repeat INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    failure_kind TEXT NOT NULL,
    sent_ms REAL NOT NULL,
    e2e_ms REAL NOT NULL,
    retry_after_s REAL,
    partial TEXT                        -- what had arrived, JSON
) STRICT;
CREATE INDEX attempts_run ON attempts (run_key, seq);

CREATE TABLE failures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    case_key INTEGER,
    repeat INTEGER,
    iteration INTEGER,
    attempt INTEGER,
    stage TEXT NOT NULL,                -- start | warmup | answer | score | close
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX failures_run ON failures (run_key, seq);
CREATE INDEX failures_execution ON failures (execution_key, case_key);

CREATE TABLE gauges (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    at REAL NOT NULL,                   -- seconds since 1970
    scope TEXT NOT NULL,                -- host | agent:ID | gpu:INDEX
    reading TEXT NOT NULL               -- JSON; a field that is not known is absent
) STRICT;
CREATE INDEX gauges_run ON gauges (run_key, seq);

CREATE TABLE gauge_summaries (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    field TEXT NOT NULL,
    low REAL NOT NULL,
    mean REAL NOT NULL,
    high REAL NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (execution_key, scope, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE prices (
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    model TEXT NOT NULL,
    input_usd_per_mtok REAL,
    output_usd_per_mtok REAL,
    cached_input_usd_per_mtok REAL,
    source TEXT NOT NULL,
    price_date TEXT,
    PRIMARY KEY (run_key, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE live (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    updated_at REAL NOT NULL,
    state TEXT NOT NULL                 -- in flight, done, oldest cases; JSON
) STRICT;

CREATE TABLE ticks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    at REAL NOT NULL,
    observed INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    correct INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    e2e_histogram BLOB NOT NULL         -- analysis.histogram, of this tick's answers
) STRICT;
CREATE INDEX ticks_run ON ticks (run_key, seq);

CREATE TABLE wishes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    at REAL NOT NULL,                   -- seconds since 1970
    wish TEXT NOT NULL,                 -- stop | pause | resume | concurrency | cancel | mark
    argument TEXT,
    answered_at REAL,
    answer TEXT
) STRICT;
CREATE INDEX wishes_run ON wishes (run_key, seq);

-- The latest complete executions of each agent on each benchmark at each parameter point: one,
-- or one for each seed of the latest run (executions of a run share their created_at).
CREATE VIEW latest_executions AS
SELECT * FROM (
    SELECT
        e.*,
        RANK() OVER (
            PARTITION BY e.agent_id, e.suite_id, e.benchmark_id, e.parameters, e.simulated
            ORDER BY e.created_at DESC
        ) AS recency
    FROM benchmark_executions e
    WHERE e.status = 'complete'
)
WHERE recency = 1;

CREATE VIEW agent_comparison_matrix AS
WITH aggregates AS (
    SELECT
        agent_id,
        simulated,
        AVG(accuracy_score) AS avg_accuracy,
        AVG(speed_score) AS avg_speed,
        AVG(efficiency_score) AS avg_efficiency,
        AVG(cost_score) AS avg_cost,
        AVG(reliability_score) AS avg_reliability,
        CASE WHEN COUNT(overall_score) = COUNT(*) THEN AVG(overall_score) END AS overall_score,
        COUNT(DISTINCT suite_id || '/' || benchmark_id) AS benchmarks_completed
    FROM latest_executions
    GROUP BY agent_id, simulated
)
SELECT
    *,
    CASE WHEN avg_accuracy IS NOT NULL THEN
        RANK() OVER (PARTITION BY simulated ORDER BY avg_accuracy DESC NULLS LAST)
    END AS accuracy_rank,
    CASE WHEN avg_speed IS NOT NULL THEN
        RANK() OVER (PARTITION BY simulated ORDER BY avg_speed DESC NULLS LAST)
    END AS speed_rank,
    CASE WHEN avg_efficiency IS NOT NULL THEN
        RANK() OVER (PARTITION BY simulated ORDER BY avg_efficiency DESC NULLS LAST)
    END AS efficiency_rank,
    CASE WHEN avg_cost IS NOT NULL THEN
        RANK() OVER (PARTITION BY simulated ORDER BY avg_cost DESC NULLS LAST)
    END AS cost_rank,
    CASE WHEN avg_reliability IS NOT NULL THEN
        RANK() OVER (PARTITION BY simulated ORDER BY avg_reliability DESC NULLS LAST)
    END AS reliability_rank,
    CASE WHEN overall_score IS NOT NULL THEN
        RANK() OVER (PARTITION BY simulated ORDER BY overall_score DESC NULLS LAST)
    END AS overall_rank
FROM aggregates;

CREATE VIEW benchmark_leaderboard AS
WITH aggregates AS (
    SELECT
        e.agent_id,
        a.name AS agent_name,
        s.category AS benchmark_category,
        e.simulated,
        AVG(e.accuracy_score) AS avg_accuracy,
        AVG(e.speed_score) AS avg_speed,
        AVG(e.efficiency_score) AS avg_efficiency,
        AVG(e.cost_score) AS avg_cost,
        AVG(e.reliability_score) AS avg_reliability,
        CASE WHEN COUNT(e.overall_score) = COUNT(*) THEN AVG(e.overall_score) END AS avg_overall,
        COUNT(DISTINCT e.suite_id || '/' || e.benchmark_id) AS benchmarks_completed,
        MAX(e.created_at) AS last_benchmark_date
    FROM latest_executions e
    JOIN agents a ON e.agent_id = a.id
    JOIN benchmark_suites s ON e.suite_hash = s.hash
    WHERE e.created_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-30 days')
    GROUP BY e.agent_id, a.name, s.category, e.simulated
),
ranked AS (
    SELECT
        *,
        CASE WHEN avg_accuracy IS NOT NULL THEN
            RANK() OVER (c ORDER BY avg_accuracy DESC NULLS LAST) END AS accuracy_rank,
        CASE WHEN avg_speed IS NOT NULL THEN
            RANK() OVER (c ORDER BY avg_speed DESC NULLS LAST) END AS speed_rank,
        CASE WHEN avg_efficiency IS NOT NULL THEN
            RANK() OVER (c ORDER BY avg_efficiency DESC NULLS LAST) END AS efficiency_rank,
        CASE WHEN avg_cost IS NOT NULL THEN
            RANK() OVER (c ORDER BY avg_cost DESC NULLS LAST) END AS cost_rank,
        CASE WHEN avg_reliability IS NOT NULL THEN
            RANK() OVER (c ORDER BY avg_reliability DESC NULLS LAST) END AS reliability_rank,
        CASE WHEN avg_overall IS NOT NULL THEN
            RANK() OVER (c ORDER BY avg_overall DESC NULLS LAST) END AS overall_rank
    FROM aggregates
    WINDOW c AS (PARTITION BY benchmark_category, simulated)
)
SELECT
    agent_id,
    agent_name,
    benchmark_category,
    simulated,
    json_object(
        'accuracy', json_object('score', avg_accuracy, 'rank', accuracy_rank),
        'speed', json_object('score', avg_speed, 'rank', speed_rank),
        'efficiency', json_object('score', avg_efficiency, 'rank', efficiency_rank),
        'cost', json_object('score', avg_cost, 'rank', cost_rank),
        'reliability', json_object('score', avg_reliability, 'rank', reliability_rank)
    ) AS scores_and_ranks,
    avg_overall,
    overall_rank,
    benchmarks_completed,
    last_benchmark_date,
    -- MIN() of several arguments is NULL if any is, so a missing rank counts as the worst.
    NULLIF(MIN(
        COALESCE(accuracy_rank, 1 << 30), COALESCE(speed_rank, 1 << 30),
        COALESCE(efficiency_rank, 1 << 30), COALESCE(cost_rank, 1 << 30),
        COALESCE(reliability_rank, 1 << 30)
    ), 1 << 30) AS best_ranking
FROM ranked
ORDER BY benchmark_category, simulated, best_ranking;

-- Whole conversations: what was asked, the turns between, what was answered.
CREATE VIEW transcripts AS
SELECT a.execution_key, a.case_key, a.repeat, a.iteration, -1 AS position,
       'user' AS role, CAST(json_extract(c.body, '$.input') AS TEXT) AS content,
       NULL AS tool_calls
FROM answers a JOIN cases c ON c.key = a.case_key
UNION ALL
SELECT execution_key, case_key, repeat, iteration, position, role, content, tool_calls
FROM messages
UNION ALL
SELECT execution_key, case_key, repeat, iteration, 1 << 30, 'assistant',
       COALESCE(json_extract(answer, '$.text'), ''), json_extract(answer, '$.tool_calls')
FROM answers WHERE answer IS NOT NULL;
