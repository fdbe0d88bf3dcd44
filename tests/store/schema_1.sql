-- A database of schema 1 with one run, as the last program that knew no other wrote it.
BEGIN TRANSACTION;
CREATE TABLE agent_versions (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    version TEXT NOT NULL,
    specification TEXT NOT NULL,        -- model.agent.AgentSpec, JSON
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT, WITHOUT ROWID;
INSERT INTO "agent_versions" VALUES('perfect','88fe01bfd07d','{"id":"perfect","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"."}','2026-11-28T07:49:45.769Z');
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "agents" VALUES('perfect','perfect','2026-11-28T07:49:45.769Z');
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
INSERT INTO "answers" VALUES(1,1,1,1,0,0,0,NULL,168.627247,0.016485,0.0,NULL,NULL,NULL,NULL,NULL,0,1,NULL,1.0,1,'{"text":"2","simulated":true}','[{"scorer":"exact","value":1.0,"correct":true}]');
INSERT INTO "answers" VALUES(2,1,1,2,0,0,0,NULL,168.729999,0.011407,0.0,NULL,NULL,NULL,NULL,NULL,0,1,NULL,1.0,1,'{"text":"5","simulated":true}','[{"scorer":"exact","value":1.0,"correct":true}]');
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
INSERT INTO "benchmark_executions" VALUES(1,'01a22121-afc3-7202-ab94-379755b1bcb4',1,0,'ca0437634e01878cf21e8c0f1170b7908c5e1ad760a89a935c50ce8b61b9d4d5','old','sums','perfect','88fe01bfd07d','01a22121-afc6-7de8-82b2-f59802b038f7','{}',42,1,1,'ab84f8b10baa0cda7a9c336e95eed4f249b332740c2d1ed89ce76a38e7fcbea3','{"id":"perfect","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"."}','2026-11-28T07:49:45.941Z','2026-11-28T07:49:45.944Z',3,7.73325000409386120736e-04,1.0,NULL,NULL,NULL,1.0,NULL,NULL,NULL,NULL,2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,2,2,2,'complete',NULL,NULL,'2026-11-28T07:49:45.769Z');
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
INSERT INTO "benchmark_suites" VALUES('ca0437634e01878cf21e8c0f1170b7908c5e1ad760a89a935c50ce8b61b9d4d5','old','old','accuracy','1','','{"suite_id":"old","name":"","description":"","category":"accuracy","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1","expected":"2"},{"id":"b","input":"2+2","expected":"5"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":0.3,"speed":0.2,"efficiency":0.2,"cost":0.15,"reliability":0.15},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1}','suite_id: old
category: accuracy
benchmarks:
  - benchmark_id: sums
    dataset:
      cases:
        - {id: a, input: "1+1", expected: "2"}
        - {id: b, input: "2+2", expected: "5"}
    scorers: [exact]
    iterations: {warmup: 0, measured: 1}
','2026-11-28T07:49:45.769Z');
CREATE TABLE benchmarks (
    suite_hash TEXT NOT NULL REFERENCES benchmark_suites (hash),
    benchmark_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    test_type TEXT NOT NULL,
    PRIMARY KEY (suite_hash, benchmark_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "benchmarks" VALUES('ca0437634e01878cf21e8c0f1170b7908c5e1ad760a89a935c50ce8b61b9d4d5','sums','sums','','task','synthetic');
CREATE TABLE cases (
    key INTEGER PRIMARY KEY,
    dataset_key INTEGER NOT NULL REFERENCES datasets (key) ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    body TEXT NOT NULL,                 -- model.answer.Case, JSON
    UNIQUE (dataset_key, case_id)
) STRICT;
INSERT INTO "cases" VALUES(1,1,'a','{"id":"a","input":"1+1","expected":"2"}');
INSERT INTO "cases" VALUES(2,1,'b','{"id":"b","input":"2+2","expected":"5"}');
CREATE TABLE datasets (
    key INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,          -- of the selected cases, in the order they are asked
    source TEXT NOT NULL,
    cases INTEGER NOT NULL
) STRICT;
INSERT INTO "datasets" VALUES(1,'88e6a0930be8d9f24401d006ab70065800be6ace2bc1f5d177c6ba16e7bddea8','inline',2);
CREATE TABLE environments (
    hash TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,          -- equal for machines whose timings may be compared
    document TEXT NOT NULL
) STRICT;
INSERT INTO "environments" VALUES('ab84f8b10baa0cda7a9c336e95eed4f249b332740c2d1ed89ce76a38e7fcbea3','f1','{"cpu_count": 2}');
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
INSERT INTO "gauge_summaries" VALUES(1,'host','disk_free_mb',82612.895744,82612.895744,82612.895744,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','load1',0.3759765625,0.3759765625,0.3759765625,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','memory_available_mb',24616.935424,24616.935424,24616.935424,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','memory_total_mb',25276.514304,25276.514304,25276.514304,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','memory_used_mb',659.57888,659.57888,659.57888,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','psi_cpu_percent',5.6,5.6,5.6,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','psi_io_percent',0.44,0.44,0.44,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','psi_memory_percent',0.0,0.0,0.0,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','swap_used_mb',0.0,0.0,0.0,1);
CREATE TABLE gauges (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    at REAL NOT NULL,                   -- seconds since 1970
    scope TEXT NOT NULL,                -- host | agent:ID | gpu:INDEX
    reading TEXT NOT NULL               -- JSON; a field that is not known is absent
) STRICT;
INSERT INTO "gauges" VALUES(1,1,1.79585218594001483913e+09,'host','{"load1":0.3759765625,"memory_used_mb":659.57888,"memory_available_mb":24616.935424,"memory_total_mb":25276.514304,"swap_used_mb":0.0,"disk_free_mb":82612.895744,"psi_cpu_percent":5.6,"psi_memory_percent":0.0,"psi_io_percent":0.44}');
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
INSERT INTO "iterations" VALUES(1,1,1,0,0,0,'ok','2026-11-28T07:49:45.943Z',7.73325000409386120736e-04,2,2,2,NULL,NULL);
CREATE TABLE live (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    updated_at REAL NOT NULL,
    state TEXT NOT NULL                 -- in flight, done, oldest cases; JSON
) STRICT;
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
INSERT INTO "meta" VALUES('workspace_id','01a22121-afc6-7de8-82b2-f59802b038f7');
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
INSERT INTO "metrics" VALUES(1,'e2e_ms.mean',0.013946,'ms',0.0,4.62070538251475454449e-02,2,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p50',0.013946,'ms',NULL,NULL,2,NULL);
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
INSERT INTO "metrics" VALUES(1,'throughput_per_s',2.58623476409172280902e+03,'1/s',NULL,NULL,2,NULL);
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
INSERT INTO "runs" VALUES(1,'01a22121-afc3-7fbd-9ae5-09fd03aab646','01a22121-afc6-7de8-82b2-f59802b038f7','complete',NULL,'["old"]','{"run_id":"01a22121-afc3-7fbd-9ae5-09fd03aab646","suites":[{"hash":"ca0437634e01878cf21e8c0f1170b7908c5e1ad760a89a935c50ce8b61b9d4d5","suite_id":"old","document":{"suite_id":"old","name":"","description":"","category":"accuracy","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1","expected":"2"},{"id":"b","input":"2+2","expected":"5"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":0.3,"speed":0.2,"efficiency":0.2,"cost":0.15,"reliability":0.15},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1},"source":"suite_id: old\ncategory: accuracy\nbenchmarks:\n  - benchmark_id: sums\n    dataset:\n      cases:\n        - {id: a, input: \"1+1\", expected: \"2\"}\n        - {id: b, input: \"2+2\", expected: \"5\"}\n    scorers: [exact]\n    iterations: {warmup: 0, measured: 1}\n"}],"groups":[{"suite_id":"old","suite_hash":"ca0437634e01878cf21e8c0f1170b7908c5e1ad760a89a935c50ce8b61b9d4d5","benchmark":{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1","expected":"2"},{"id":"b","input":"2+2","expected":"5"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},"parameters":{},"values":{},"seed":42,"base_dir":".","case_ids":[],"executions":[{"id":"01a22121-afc3-7202-ab94-379755b1bcb4","ordinal":0,"agent":{"id":"perfect","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"."}}]}],"repeats":1,"seed":42,"cost_limit_usd":null,"token_limit":null,"prices":[],"prices_file":"","gates":[],"tags":[],"notes":"","command":"agentbench run suite.yaml --no-ui --db old.db --agent reference:perfect"}','agentbench run suite.yaml --no-ui --db old.db --agent reference:perfect',42,1,'[]','','ab84f8b10baa0cda7a9c336e95eed4f249b332740c2d1ed89ce76a38e7fcbea3',NULL,'{"wall_seconds":0.04614087100162578,"cpu_seconds":0.046021953999999976,"run_queue_wait_ms":0.0,"psi_cpu_percent":0.17121479999199934,"psi_cpu_avg10":4.59,"gc_pause_ms":0.814735,"gc_pause_max_ms":0.424057,"gc_collections":8,"load_before":0.3759765625,"load_after":0.3759765625,"verdict":"clean","reasons":["agents ran inside the harness: its CPU share was not judged"],"gauges":{"readings":1,"p50_ms":0.8425569994869875,"max_ms":0.8425569994869875,"cpu_seconds":0.001417998,"skipped":0,"errors":0,"last_error":null,"gpu_reason":"no GPU found (NVIDIA: NVML says: NVML Shared Library Not Found; AMD: no card of the amdgpu driver in /sys/class/drm)"}}','clean','0.1.0','{"boot_id":"afa7e37a-97ae-46e4-924b-85bd8cb7ed4e","pid":726,"since":1795852185.7665849}','2026-11-28T07:49:45.769Z','2026-11-28T07:49:45.989Z',NULL);
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
INSERT INTO "ticks" VALUES(1,1,1,1.79585218598748230928e+09,2,2,2,0,0.0,X'960100CE0001FE3E012501');
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',1);
INSERT INTO "sqlite_sequence" VALUES('benchmark_executions',1);
INSERT INTO "sqlite_sequence" VALUES('gauges',1);
INSERT INTO "sqlite_sequence" VALUES('answers',2);
INSERT INTO "sqlite_sequence" VALUES('iterations',1);
INSERT INTO "sqlite_sequence" VALUES('ticks',1);
PRAGMA user_version=1;
COMMIT;
