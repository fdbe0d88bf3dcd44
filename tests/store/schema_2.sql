-- A database of schema 2 with one run, as the last program that knew no other wrote it.
BEGIN TRANSACTION;
CREATE TABLE agent_versions (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    version TEXT NOT NULL,
    specification TEXT NOT NULL,        -- model.agent.AgentSpec, JSON
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT, WITHOUT ROWID;
INSERT INTO "agent_versions" VALUES('perfect','88fe01bfd07d','{"id":"perfect","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"."}','2026-11-28T11:08:14.923Z');
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "agents" VALUES('perfect','perfect','2026-11-28T11:08:14.923Z');
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
INSERT INTO "answers" VALUES(1,1,1,1,0,0,0,NULL,79.434878,0.049544,0.0,NULL,NULL,NULL,NULL,NULL,0,1,NULL,1.0,1,'{"text":"2","simulated":true}','[{"scorer":"exact","value":1.0,"correct":true}]');
INSERT INTO "answers" VALUES(2,1,1,2,0,0,0,NULL,79.647964,0.024396,0.0,NULL,NULL,NULL,NULL,NULL,0,1,NULL,1.0,1,'{"text":"4","simulated":true}','[{"scorer":"exact","value":1.0,"correct":true}]');
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
INSERT INTO "benchmark_executions" VALUES(1,'01a221d7-68b4-7e73-87da-f145d491163d',1,0,'f2a641c8dd2ec6e5540a211d589cea5004aa5c76e9a28027ee1b85be95bad967','tiny','sums','perfect','88fe01bfd07d','01a221d7-68ba-7183-a8ee-4717d5fbfa92','{}',42,1,1,'85cc7610cec921c594beea8aa95482d130c12d5c93a1ea00d421887b85da977c','{"id":"perfect","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"."}','2026-11-28T11:08:14.961Z','2026-11-28T11:08:15.063Z',101,1.92194400005973875522e-03,1.0,NULL,NULL,NULL,1.0,NULL,NULL,NULL,NULL,2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,2,2,2,'complete',NULL,NULL,'2026-11-28T11:08:14.923Z');
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
INSERT INTO "benchmark_suites" VALUES('f2a641c8dd2ec6e5540a211d589cea5004aa5c76e9a28027ee1b85be95bad967','tiny','tiny','comprehensive','1','','{"suite_id":"tiny","name":"","description":"","category":"comprehensive","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1","expected":"2"},{"id":"b","input":"2+2","expected":"4"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":0.3,"speed":0.2,"efficiency":0.2,"cost":0.15,"reliability":0.15},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1}','suite_id: tiny
benchmarks:
  - benchmark_id: sums
    dataset: {cases: [{id: a, input: "1+1", expected: "2"}, {id: b, input: "2+2", expected: "4"}]}
    scorers: [exact]
    iterations: {warmup: 0, measured: 1}
','2026-11-28T11:08:14.923Z');
CREATE TABLE benchmarks (
    suite_hash TEXT NOT NULL REFERENCES benchmark_suites (hash),
    benchmark_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    test_type TEXT NOT NULL,
    PRIMARY KEY (suite_hash, benchmark_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "benchmarks" VALUES('f2a641c8dd2ec6e5540a211d589cea5004aa5c76e9a28027ee1b85be95bad967','sums','sums','','task','synthetic');
CREATE TABLE calibrations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER REFERENCES runs (key) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,          -- of the machine, as in environments
    document TEXT NOT NULL              -- load.window.Calibration, JSON
) STRICT;
INSERT INTO "calibrations" VALUES(1,1,'f1','{}');
CREATE TABLE cases (
    key INTEGER PRIMARY KEY,
    dataset_key INTEGER NOT NULL REFERENCES datasets (key) ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    body TEXT NOT NULL,                 -- model.answer.Case, JSON
    UNIQUE (dataset_key, case_id)
) STRICT;
INSERT INTO "cases" VALUES(1,1,'a','{"id":"a","input":"1+1","expected":"2"}');
INSERT INTO "cases" VALUES(2,1,'b','{"id":"b","input":"2+2","expected":"4"}');
CREATE TABLE datasets (
    key INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,          -- of the selected cases, in the order they are asked
    source TEXT NOT NULL,
    cases INTEGER NOT NULL
) STRICT;
INSERT INTO "datasets" VALUES(1,'3046a61c61fff5e49892dc5a1b7ba96a420216a9930a5030c6c03ecc34744b4f','inline',2);
CREATE TABLE environments (
    hash TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,          -- equal for machines whose timings may be compared
    document TEXT NOT NULL
) STRICT;
INSERT INTO "environments" VALUES('85cc7610cec921c594beea8aa95482d130c12d5c93a1ea00d421887b85da977c','f1','{"cpu_count": 2}');
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
CREATE TABLE gauges (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    at REAL NOT NULL,                   -- seconds since 1970
    scope TEXT NOT NULL,                -- host | agent:ID | gpu:INDEX
    reading TEXT NOT NULL               -- JSON; a field that is not known is absent
) STRICT;
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
INSERT INTO "iterations" VALUES(1,1,1,0,0,0,'ok','2026-11-28T11:08:15.003Z',1.92194400005973875522e-03,2,2,2,NULL,NULL);
CREATE TABLE live (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    updated_at REAL NOT NULL,
    state TEXT NOT NULL                 -- in flight, done, oldest cases; JSON
) STRICT;
CREATE TABLE load_summaries (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    verdict TEXT NOT NULL,              -- clean | noisy | generator-limited
    document TEXT NOT NULL              -- load.summary.LoadSummary, JSON
) STRICT;
INSERT INTO "load_summaries" VALUES(1,1,'clean','{"s": 1}');
CREATE TABLE load_windows (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    document TEXT NOT NULL,             -- load.window.Window, JSON
    PRIMARY KEY (execution_key, repeat)
) STRICT, WITHOUT ROWID;
INSERT INTO "load_windows" VALUES(1,0,1,'{"w": 1}');
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
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('workspace_id','01a221d7-68ba-7183-a8ee-4717d5fbfa92');
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
INSERT INTO "metrics" VALUES(1,'accuracy',1.0,'share',3.42380227506653200819e-01,1.0,2,NULL);
INSERT INTO "metrics" VALUES(1,'api_calls',2.0,'calls',NULL,NULL,2,NULL);
INSERT INTO "metrics" VALUES(1,'completeness',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'correct_share',1.0,'share',3.42380227506653200819e-01,1.0,2,NULL);
INSERT INTO "metrics" VALUES(1,'correctness',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'cost_usd',NULL,'USD',NULL,NULL,2,'the agent did not say how many tokens it used (2 answers)');
INSERT INTO "metrics" VALUES(1,'cost_usd_per_correct',NULL,'USD',NULL,NULL,2,'the agent did not say how many tokens it used (2 answers)');
INSERT INTO "metrics" VALUES(1,'cost_usd_per_task',NULL,'USD',NULL,NULL,2,'the agent did not say how many tokens it used (2 answers)');
INSERT INTO "metrics" VALUES(1,'cpu_ms_per_correct',NULL,'ms',NULL,NULL,2,'the agent has no process of its own here');
INSERT INTO "metrics" VALUES(1,'cpu_usage_percent',NULL,'%',NULL,NULL,2,'the agent has no process of its own here');
INSERT INTO "metrics" VALUES(1,'e2e_ms.mean',0.03697,'ms',0.0,1.96737818352660603915e-01,2,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p50',0.03697,'ms',NULL,NULL,2,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p90',NULL,'ms',NULL,NULL,2,'needs 29 (have 2)');
INSERT INTO "metrics" VALUES(1,'e2e_ms.p95',NULL,'ms',NULL,NULL,2,'needs 59 (have 2)');
INSERT INTO "metrics" VALUES(1,'e2e_ms.p99',NULL,'ms',NULL,NULL,2,'needs 299 (have 2)');
INSERT INTO "metrics" VALUES(1,'input_tokens.mean',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p50',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p90',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p95',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p99',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'memory_peak_mb',NULL,'MB',NULL,NULL,2,'the agent has no process of its own here');
INSERT INTO "metrics" VALUES(1,'output_tokens.mean',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p50',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p90',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p95',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p99',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'relevance',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'reliability',1.0,'share',3.42380227506653200819e-01,1.0,2,NULL);
INSERT INTO "metrics" VALUES(1,'retries',0.0,'attempts',NULL,NULL,2,NULL);
INSERT INTO "metrics" VALUES(1,'throughput_per_s',1.04061304592528972533e+03,'1/s',NULL,NULL,2,NULL);
INSERT INTO "metrics" VALUES(1,'tokens_per_correct',NULL,'tokens',NULL,NULL,0,'the agent does not report tokens');
INSERT INTO "metrics" VALUES(1,'tokens_used',NULL,'tokens',NULL,NULL,0,'the agent does not report tokens');
INSERT INTO "metrics" VALUES(1,'ttft_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'waiting_ms.mean',0.0,'ms',0.0,0.0,2,NULL);
INSERT INTO "metrics" VALUES(1,'waiting_ms.p50',NULL,'ms',NULL,NULL,2,'needs 5 (have 2)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p90',NULL,'ms',NULL,NULL,2,'needs 29 (have 2)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p95',NULL,'ms',NULL,NULL,2,'needs 59 (have 2)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p99',NULL,'ms',NULL,NULL,2,'needs 299 (have 2)');
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
INSERT INTO "runs" VALUES(1,'01a221d7-68b4-75e3-929c-87208cac3ffa','01a221d7-68ba-7183-a8ee-4717d5fbfa92','complete',NULL,'["tiny"]','{"run_id":"01a221d7-68b4-75e3-929c-87208cac3ffa","suites":[{"hash":"f2a641c8dd2ec6e5540a211d589cea5004aa5c76e9a28027ee1b85be95bad967","suite_id":"tiny","document":{"suite_id":"tiny","name":"","description":"","category":"comprehensive","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1","expected":"2"},{"id":"b","input":"2+2","expected":"4"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":0.3,"speed":0.2,"efficiency":0.2,"cost":0.15,"reliability":0.15},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1},"source":"suite_id: tiny\nbenchmarks:\n  - benchmark_id: sums\n    dataset: {cases: [{id: a, input: \"1+1\", expected: \"2\"}, {id: b, input: \"2+2\", expected: \"4\"}]}\n    scorers: [exact]\n    iterations: {warmup: 0, measured: 1}\n"}],"groups":[{"suite_id":"tiny","suite_hash":"f2a641c8dd2ec6e5540a211d589cea5004aa5c76e9a28027ee1b85be95bad967","benchmark":{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1","expected":"2"},{"id":"b","input":"2+2","expected":"4"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},"parameters":{},"values":{},"seed":42,"base_dir":".","case_ids":[],"executions":[{"id":"01a221d7-68b4-7e73-87da-f145d491163d","ordinal":0,"agent":{"id":"perfect","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"."}}]}],"repeats":1,"seed":42,"cost_limit_usd":null,"token_limit":null,"prices":[],"prices_file":"","gates":[],"tags":[],"notes":"","command":"agentbench run one.yaml --agent perfect=reference:perfect --no-ui --db s2.db -q"}','agentbench run one.yaml',42,1,'[]','','85cc7610cec921c594beea8aa95482d130c12d5c93a1ea00d421887b85da977c',NULL,NULL,'noisy','0.1.0',NULL,'2026-11-28T11:08:14.923Z','2026-11-28T11:08:15.077Z',NULL);
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
INSERT INTO "sample_chunks" VALUES(1,1,1,0,0,1,X'01',X'02');
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
, repeat INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, ttft_histogram BLOB) STRICT;
INSERT INTO "ticks" VALUES(1,1,1,1.79586409507482171058e+09,2,2,2,0,0.0,X'960100CE0001FE8A014801',0,0,0,NULL);
CREATE TABLE wishes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    at REAL NOT NULL,                   -- seconds since 1970
    wish TEXT NOT NULL,                 -- stop | pause | resume | concurrency | cancel | mark
    argument TEXT,
    answered_at REAL,
    answer TEXT
) STRICT;
CREATE INDEX cases_dataset ON cases (dataset_key);
CREATE INDEX idx_benchmark_exec_agent ON benchmark_executions (agent_id, created_at);
CREATE INDEX idx_benchmark_exec_suite ON benchmark_executions (suite_id, benchmark_id);
CREATE INDEX idx_benchmark_exec_scores ON benchmark_executions (accuracy_score, speed_score);
CREATE INDEX idx_benchmark_exec_run ON benchmark_executions (run_key, ordinal);
CREATE INDEX iterations_run ON iterations (run_key, seq);
CREATE INDEX iterations_execution ON iterations (execution_key);
CREATE UNIQUE INDEX answers_observation
    ON answers (execution_key, case_key, repeat, iteration);
CREATE INDEX answers_run ON answers (run_key, seq);
CREATE INDEX attempts_run ON attempts (run_key, seq);
CREATE INDEX failures_run ON failures (run_key, seq);
CREATE INDEX failures_execution ON failures (execution_key, case_key);
CREATE INDEX gauges_run ON gauges (run_key, seq);
CREATE INDEX ticks_run ON ticks (run_key, seq);
CREATE INDEX wishes_run ON wishes (run_key, seq);
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
CREATE INDEX sample_chunks_run ON sample_chunks (run_key, seq);
CREATE INDEX sample_chunks_execution ON sample_chunks (execution_key, repeat, seq);
CREATE INDEX calibrations_machine ON calibrations (fingerprint, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',1);
INSERT INTO "sqlite_sequence" VALUES('benchmark_executions',1);
INSERT INTO "sqlite_sequence" VALUES('gauges',2);
INSERT INTO "sqlite_sequence" VALUES('answers',2);
INSERT INTO "sqlite_sequence" VALUES('iterations',1);
INSERT INTO "sqlite_sequence" VALUES('ticks',1);
INSERT INTO "sqlite_sequence" VALUES('sample_chunks',1);
INSERT INTO "sqlite_sequence" VALUES('calibrations',1);
COMMIT;
PRAGMA user_version=2;
