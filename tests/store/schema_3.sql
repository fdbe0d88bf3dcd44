-- A database of schema 3 with a task and a load, as the last program that knew no other wrote it.
BEGIN TRANSACTION;
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
CREATE TABLE agent_versions (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    version TEXT NOT NULL,
    specification TEXT NOT NULL,        -- model.agent.AgentSpec, JSON
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT, WITHOUT ROWID;
INSERT INTO "agent_versions" VALUES('mock','6ede16b62d51','{"id":"mock","version":"6ede16b62d51","target":"mock","simulated":true,"base_dir":"suites"}','2026-11-28T13:35:44.691Z');
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "agents" VALUES('mock','mock','2026-11-28T13:35:44.691Z');
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
INSERT INTO "answers" VALUES(1,1,1,1,0,0,0,NULL,242.541629,362.096969,0.0,51.627602,1,32,0,0,0,1,NULL,0.0,0,'{"text":" one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen","usage":{"input_tokens":1,"output_tokens":32,"cached_tokens":0,"reasoning_tokens":0},"ttft_ms":51.627602,"model":"mock","finish_reason":"stop","simulated":true,"metadata":{"chunks":32,"icl_ms":9.964829,"ttfo_ms":51.627602}}','[{"scorer":"exact","value":0.0,"correct":false,"reason":"said ''one two three four five six seven eight nine ten eleven twel… (+133 characters)'', expected ''2''"}]');
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
INSERT INTO "benchmark_executions" VALUES(1,'01a2225e-721a-715a-9fa1-5f0d84e491ae',1,0,'f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189','tiny','sums','mock','6ede16b62d51','01a2225e-721f-7ee0-8655-0d0424422dd0','{}',42,1,1,'6752c9c78d75b6498b3043ec17a304385f9e53f0ce619573a558458008670b7a','{"id":"mock","version":"6ede16b62d51","target":"mock","simulated":true,"base_dir":"suites"}','2026-11-28T13:35:44.747Z','2026-11-28T13:35:45.464Z',716,4.45273078003083355724e-01,0.0,NULL,NULL,NULL,1.0,NULL,NULL,NULL,33,1,28.34432,1.97607792491309663951e+00,8.79894300000000351147e-03,NULL,NULL,NULL,NULL,NULL,NULL,1,1,1,0,'complete',NULL,NULL,'2026-11-28T13:35:44.691Z');
INSERT INTO "benchmark_executions" VALUES(2,'01a2225e-721a-7444-a16c-db2a0dce183d',1,1,'f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189','tiny','burst','mock','6ede16b62d51','01a2225e-721f-7ee0-8655-0d0424422dd0','{}',42,NULL,1,'6752c9c78d75b6498b3043ec17a304385f9e53f0ce619573a558458008670b7a','{"id":"mock","version":"6ede16b62d51","target":"mock","simulated":true,"base_dir":"suites"}','2026-11-28T13:35:45.477Z','2026-11-28T13:35:47.345Z',1868,0.3,NULL,NULL,NULL,NULL,1.0,NULL,NULL,NULL,291,6,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,6,6,6,0,'complete',NULL,NULL,'2026-11-28T13:35:44.691Z');
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
INSERT INTO "benchmark_suites" VALUES('f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189','tiny','tiny','comprehensive','1','','{"suite_id":"tiny","name":"","description":"","category":"comprehensive","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1?","expected":"2"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},{"benchmark_id":"burst","name":"","description":"","kind":"load","test_type":"synthetic","metrics_measured":[],"dataset":null,"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":[],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{"rate":20,"duration_s":0.3,"warmup_requests":0},"iterations":{"warmup":3,"measured":5},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":0.3,"speed":0.2,"efficiency":0.2,"cost":0.15,"reliability":0.15},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1}','suite_id: tiny
benchmarks:
  - benchmark_id: sums
    dataset: {cases: [{id: a, input: "1+1?", expected: "2"}]}
    scorers: [exact]
    iterations: {warmup: 0, measured: 1}
  - benchmark_id: burst
    kind: load
    load: {rate: 20, duration_s: 0.3, warmup_requests: 0}
','2026-11-28T13:35:44.691Z');
CREATE TABLE benchmarks (
    suite_hash TEXT NOT NULL REFERENCES benchmark_suites (hash),
    benchmark_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    test_type TEXT NOT NULL,
    PRIMARY KEY (suite_hash, benchmark_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "benchmarks" VALUES('f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189','burst','burst','','load','synthetic');
INSERT INTO "benchmarks" VALUES('f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189','sums','sums','','task','synthetic');
CREATE TABLE calibrations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER REFERENCES runs (key) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,          -- of the machine, as in environments
    document TEXT NOT NULL              -- load.window.Calibration, JSON
) STRICT;
INSERT INTO "calibrations" VALUES(1,1,'9cc4753ce890a805d36622159494e5c649ff95303b36f3447e0c19aa966311a4','{"at":"2026-11-28T13:35:47.343Z","rate_per_s":600.0,"overhead_p50_ms":0.16937871406773558,"overhead_p99_ms":0.7395487140677318,"n":300,"cpu_us_per_request":369.54495333333335,"ceiling_per_s":4866.666666666667,"workers":1,"streamed":true}');
CREATE TABLE cases (
    key INTEGER PRIMARY KEY,
    dataset_key INTEGER NOT NULL REFERENCES datasets (key) ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    body TEXT NOT NULL,                 -- model.answer.Case, JSON
    UNIQUE (dataset_key, case_id)
) STRICT;
INSERT INTO "cases" VALUES(1,1,'a','{"id":"a","input":"1+1?","expected":"2"}');
CREATE TABLE datasets (
    key INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,          -- of the selected cases, in the order they are asked
    source TEXT NOT NULL,
    cases INTEGER NOT NULL
) STRICT;
INSERT INTO "datasets" VALUES(1,'f8ec7bcf9851ea9127859852156dd35001d5df04f4780f8a6424c89b3f9ea663','inline',1);
CREATE TABLE environments (
    hash TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,          -- equal for machines whose timings may be compared
    document TEXT NOT NULL
) STRICT;
INSERT INTO "environments" VALUES('6752c9c78d75b6498b3043ec17a304385f9e53f0ce619573a558458008670b7a','9cc4753ce890a805d36622159494e5c649ff95303b36f3447e0c19aa966311a4','{"cpu_count": 2}');
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
INSERT INTO "iterations" VALUES(1,1,1,0,0,0,'ok','2026-11-28T13:35:44.933Z',4.45273078003083355724e-01,1,1,0,8.79894300000000351147e-03,28.34432);
INSERT INTO "iterations" VALUES(2,1,2,0,0,0,'ok','2026-11-28T13:35:45.702Z',0.3,6,6,0,NULL,NULL);
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
INSERT INTO "load_summaries" VALUES(2,1,'clean','{"verdict":"clean","reasons":[],"limit":"none","warnings":["6 of 6 answered requests opened a connection: their latencies include it"],"is_open":true,"on_this_machine":true,"slo":{},"repeats":1,"steady":[[0.0,0.3]],"tokens_estimated":false,"requests":{"asked_per_s":20.0,"sent_per_s":20.0,"offered":6,"sent":6,"ok":6,"failed":{},"cancelled":0,"unfinished":0,"unsent":0,"connections":6,"resent":0,"sent_bytes":2243,"received_bytes":38382},"harness":{"overhead_p50_ms":0.16937871406773558,"overhead_p99_ms":0.7395487140677318,"ceiling_per_s":4866.666666666667,"calibrated_at":"2026-11-28T13:35:47.343Z","calibrated_rate_per_s":600.0,"cpu_us_per_request":2257.149166666669,"cpu_share":0.04437093905112219,"workers":1,"realtime":true,"window_s":0.3,"drained_s":0.310747623,"lateness_p50_ms":0.11121544687221471,"lateness_p99_ms":0.152823,"lateness_max_ms":0.152823,"late":0,"blocked":0,"most_in_flight":6,"run_queue_wait_ms":0.0,"psi_cpu_percent":0.8249818177683026,"gc_pause_ms":0.0,"gc_pause_max_ms":0.0,"peak_rss_mb":28.925952}}');
CREATE TABLE load_windows (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    document TEXT NOT NULL,             -- load.window.Window, JSON
    PRIMARY KEY (execution_key, repeat)
) STRICT, WITHOUT ROWID;
INSERT INTO "load_windows" VALUES(2,0,1,'{"is_open":true,"asked_per_s":20.0,"asked":6.0,"started_at":"2026-11-28T13:35:45.702Z","ramp_s":null,"slo":{},"max_in_flight":null,"on_this_machine":true,"workers":[{"type":"done","offered":6,"sent":6,"window_s":0.3,"drained_s":0.310747623,"cpu_s":0.013542895000000013,"connections":6,"resent":0,"sent_bytes":2243,"received_bytes":38382,"most_in_flight":6,"blocked":0,"late":0,"lateness":{"p50_ms":0.11121544687221471,"p99_ms":0.152823,"max_ms":0.152823,"n":30},"run_queue_wait_ms":0.0,"gc_pause_ms":0.0,"gc_pause_max_ms":0.0,"peak_rss_mb":28.925952,"stopped":false,"realtime":true,"probed_s":0.30521993200090947}],"calibration":{"at":"2026-11-28T13:35:47.343Z","rate_per_s":600.0,"overhead_p50_ms":0.16937871406773558,"overhead_p99_ms":0.7395487140677318,"n":300,"cpu_us_per_request":369.54495333333335,"ceiling_per_s":4866.666666666667,"workers":1,"streamed":true},"psi_cpu_percent":0.8249818177683026,"stopped":false,"agent_inside":false}');
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
INSERT INTO "meta" VALUES('workspace_id','01a2225e-721f-7ee0-8655-0d0424422dd0');
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
INSERT INTO "metrics" VALUES(1,'accuracy',0.0,'share',0.0,7.9345068562276255264e-01,1,NULL);
INSERT INTO "metrics" VALUES(1,'api_calls',1.0,'calls',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'completeness',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'correct_share',0.0,'share',0.0,7.9345068562276255264e-01,1,NULL);
INSERT INTO "metrics" VALUES(1,'correctness',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'cost_usd',NULL,'USD',NULL,NULL,1,'the price of mock is not known; give it in `prices` or with --prices (1 answers)');
INSERT INTO "metrics" VALUES(1,'cost_usd_per_correct',NULL,'USD',NULL,NULL,1,'the price of mock is not known; give it in `prices` or with --prices (1 answers)');
INSERT INTO "metrics" VALUES(1,'cost_usd_per_task',NULL,'USD',NULL,NULL,1,'the price of mock is not known; give it in `prices` or with --prices (1 answers)');
INSERT INTO "metrics" VALUES(1,'cpu_ms_per_correct',NULL,'ms',NULL,NULL,1,'no right answer');
INSERT INTO "metrics" VALUES(1,'cpu_usage_percent',1.97607792491309663951e+00,'%',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.mean',362.096969,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p50',362.096969,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p90',NULL,'ms',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'e2e_ms.p95',NULL,'ms',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'e2e_ms.p99',NULL,'ms',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(1,'input_tokens.mean',1.0,'tokens',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'input_tokens.p50',NULL,'tokens',NULL,NULL,1,'needs 5 (have 1)');
INSERT INTO "metrics" VALUES(1,'input_tokens.p90',NULL,'tokens',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'input_tokens.p95',NULL,'tokens',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'input_tokens.p99',NULL,'tokens',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(1,'memory_peak_mb',28.34432,'MB',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'output_tokens.mean',32.0,'tokens',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'output_tokens.p50',NULL,'tokens',NULL,NULL,1,'needs 5 (have 1)');
INSERT INTO "metrics" VALUES(1,'output_tokens.p90',NULL,'tokens',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'output_tokens.p95',NULL,'tokens',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'output_tokens.p99',NULL,'tokens',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(1,'relevance',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'reliability',1.0,'share',2.06549314377237447359e-01,1.0,1,NULL);
INSERT INTO "metrics" VALUES(1,'retries',0.0,'attempts',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'throughput_per_s',2.24581284924006885361e+00,'1/s',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'tokens_per_correct',NULL,'tokens',NULL,NULL,0,'no right answer');
INSERT INTO "metrics" VALUES(1,'tokens_used',33.0,'tokens',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'ttft_ms.mean',51.627602,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'ttft_ms.p50',51.627602,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'ttft_ms.p90',NULL,'ms',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p95',NULL,'ms',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p99',NULL,'ms',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.mean',0.0,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'waiting_ms.p50',NULL,'ms',NULL,NULL,1,'needs 5 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p90',NULL,'ms',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p95',NULL,'ms',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p99',NULL,'ms',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(2,'accuracy',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'api_calls',6.0,'calls',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'completeness',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'connections',6.0,'connections',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'correct_share',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'correctness',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'cost_usd',NULL,'USD',NULL,NULL,6,'the prices of its tokens are not known');
INSERT INTO "metrics" VALUES(2,'cost_usd_per_correct',NULL,'USD',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'cost_usd_per_task',NULL,'USD',NULL,NULL,6,'the prices of its tokens are not known');
INSERT INTO "metrics" VALUES(2,'cpu_ms_per_correct',NULL,'ms',NULL,NULL,6,'the target''s processes are not followed under load');
INSERT INTO "metrics" VALUES(2,'cpu_usage_percent',NULL,'%',NULL,NULL,6,'the target''s processes are not followed under load');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.max',361.208,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.mean',3.61112333333333310756e+02,'ms',3.61059753919668082735e+02,3.61164912746998538754e+02,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p50',361.098,'ms',361.074,361.208,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.max',3.6139000000000004321e+02,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_ms.mean',361.2635,'ms',3.61174144391362176523e+02,3.61352855608637867144e+02,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_ms.p50',3.61253500000000030926e+02,'ms',361.164,3.6139000000000004321e+02,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'error_rate',0.0,'share',0.0,3.90334287902165177897e-01,6,NULL);
INSERT INTO "metrics" VALUES(2,'goodput_per_s',NULL,'1/s',NULL,NULL,6,'no limits are given (`slo`)');
INSERT INTO "metrics" VALUES(2,'goodput_share',NULL,'share',NULL,NULL,6,'no limits are given (`slo`)');
INSERT INTO "metrics" VALUES(2,'icl_ms.max',10.392,'ms',NULL,NULL,186,NULL);
INSERT INTO "metrics" VALUES(2,'icl_ms.mean',1.0002172043010752134e+01,'ms',9.98393881201049282481e+00,1.00204052740110114425e+01,186,NULL);
INSERT INTO "metrics" VALUES(2,'icl_ms.p50',10.0075,'ms',9.993,10.021,186,NULL);
INSERT INTO "metrics" VALUES(2,'icl_ms.p90',10.116,'ms',10.077,10.167,186,NULL);
INSERT INTO "metrics" VALUES(2,'icl_ms.p95',1.01842499999999986921e+01,'ms',10.133,10.379,186,NULL);
INSERT INTO "metrics" VALUES(2,'icl_ms.p99',NULL,'ms',NULL,NULL,186,'needs 299 (have 186)');
INSERT INTO "metrics" VALUES(2,'icl_ms.p999',NULL,'ms',NULL,NULL,186,'needs 2,995 (have 186)');
INSERT INTO "metrics" VALUES(2,'input_tokens.max',20.0,'tokens',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'input_tokens.mean',16.5,'tokens',1.40388552678557445574e+01,1.89611447321442554425e+01,6,NULL);
INSERT INTO "metrics" VALUES(2,'input_tokens.p50',16.0,'tokens',13.0,20.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'input_tokens.p90',NULL,'tokens',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'input_tokens.p95',NULL,'tokens',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'input_tokens.p99',NULL,'tokens',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'input_tokens.p999',NULL,'tokens',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'input_tokens_per_s',330.0,'tokens/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'itl_ms.max',10.392,'ms',NULL,NULL,186,NULL);
INSERT INTO "metrics" VALUES(2,'itl_ms.mean',1.0002172043010752134e+01,'ms',NULL,NULL,186,NULL);
INSERT INTO "metrics" VALUES(2,'itl_ms.p50',10.007,'ms',NULL,NULL,186,NULL);
INSERT INTO "metrics" VALUES(2,'itl_ms.p90',10.117,'ms',NULL,NULL,186,NULL);
INSERT INTO "metrics" VALUES(2,'itl_ms.p95',10.19,'ms',NULL,NULL,186,NULL);
INSERT INTO "metrics" VALUES(2,'itl_ms.p99',NULL,'ms',NULL,NULL,186,'needs 299 (have 186)');
INSERT INTO "metrics" VALUES(2,'itl_ms.p999',NULL,'ms',NULL,NULL,186,'needs 2,995 (have 186)');
INSERT INTO "metrics" VALUES(2,'memory_peak_mb',NULL,'MB',NULL,NULL,6,'the target''s processes are not followed under load');
INSERT INTO "metrics" VALUES(2,'output_tokens.max',32.0,'tokens',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'output_tokens.mean',32.0,'tokens',32.0,32.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'output_tokens.p50',32.0,'tokens',32.0,32.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'output_tokens.p90',NULL,'tokens',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'output_tokens.p95',NULL,'tokens',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'output_tokens.p99',NULL,'tokens',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'output_tokens.p999',NULL,'tokens',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'output_tokens_per_s',640.0,'tokens/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'output_tokens_per_s_per_user',9.99736091171631500139e+01,'tokens/s',9.9956926916848374276e+01,99.990296886722,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.max',0.0,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.mean',0.0,'ms',0.0,0.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.p50',0.0,'ms',0.0,0.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'queue_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'queue_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'queue_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'received_bytes',38382.0,'bytes',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'relevance',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'reliability',1.0,'share',6.09665712097834822102e-01,1.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'request_throughput_per_s',20.0,'1/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'retries',0.0,'attempts',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.max',0.21,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.mean',1.51166666666666643648e-01,'ms',9.88528877191458543727e-02,2.03480445614187432923e-01,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p50',1.63999999999999979127e-01,'ms',0.089,0.21,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'sent_per_s',20.0,'1/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'sent_share',1.0,'share',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'throughput_per_s',9.81693060575370246567e+00,'1/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'tokens_per_correct',NULL,'tokens',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'tokens_used',291.0,'tokens',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'tpot_ms.max',1.00043870967741916895e+01,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'tpot_ms.mean',1.00026397849462380664e+01,'ms',1.00009704054852601731e+01,1.00043091644072159598e+01,6,NULL);
INSERT INTO "metrics" VALUES(2,'tpot_ms.p50',1.00029677419354836589e+01,'ms',9.99964516129032432445e+00,1.00043870967741916895e+01,6,NULL);
INSERT INTO "metrics" VALUES(2,'tpot_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.max',51.401,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttfo_ms.mean',5.1181666666666671972e+01,'ms',5.10458165576440165995e+01,5.13175167756893273445e+01,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p50',51.169,'ms',51.028,51.401,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.max',51.219,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.mean',5.10304999999999964188e+01,'ms',5.09286847298877489711e+01,5.11323152701122438665e+01,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p50',5.10040000000000048885e+01,'ms',50.939,51.219,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_ms.max',51.401,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttft_ms.mean',5.1181666666666671972e+01,'ms',5.10458165576440165995e+01,5.13175167756893273445e+01,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttft_ms.p50',51.169,'ms',51.028,51.401,6,NULL);
INSERT INTO "metrics" VALUES(2,'ttft_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
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
INSERT INTO "runs" VALUES(1,'01a2225e-721a-7e07-a31a-06a42a1438c5','01a2225e-721f-7ee0-8655-0d0424422dd0','complete',NULL,'["tiny"]','{"run_id":"01a2225e-721a-7e07-a31a-06a42a1438c5","suites":[{"hash":"f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189","suite_id":"tiny","document":{"suite_id":"tiny","name":"","description":"","category":"comprehensive","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1?","expected":"2"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},{"benchmark_id":"burst","name":"","description":"","kind":"load","test_type":"synthetic","metrics_measured":[],"dataset":null,"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":[],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{"rate":20,"duration_s":0.3,"warmup_requests":0},"iterations":{"warmup":3,"measured":5},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":0.3,"speed":0.2,"efficiency":0.2,"cost":0.15,"reliability":0.15},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1},"source":"suite_id: tiny\nbenchmarks:\n  - benchmark_id: sums\n    dataset: {cases: [{id: a, input: \"1+1?\", expected: \"2\"}]}\n    scorers: [exact]\n    iterations: {warmup: 0, measured: 1}\n  - benchmark_id: burst\n    kind: load\n    load: {rate: 20, duration_s: 0.3, warmup_requests: 0}\n"}],"groups":[{"suite_id":"tiny","suite_hash":"f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189","benchmark":{"benchmark_id":"sums","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"a","input":"1+1?","expected":"2"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},"parameters":{},"values":{},"seed":42,"base_dir":"suites","case_ids":[],"executions":[{"id":"01a2225e-721a-715a-9fa1-5f0d84e491ae","ordinal":0,"agent":{"id":"mock","version":"6ede16b62d51","target":"mock","simulated":true,"base_dir":"suites"}}]},{"suite_id":"tiny","suite_hash":"f32dc2ffea88157c5fa0b51ff9b96a46a93f21885b80e67eac32d2a9024d3189","benchmark":{"benchmark_id":"burst","name":"","description":"","kind":"load","test_type":"synthetic","metrics_measured":[],"dataset":null,"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":[],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"experiment":null,"load":{"rate":20,"duration_s":0.3,"warmup_requests":0},"iterations":{"warmup":3,"measured":5},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},"parameters":{},"values":{},"seed":42,"base_dir":"suites","case_ids":[],"executions":[{"id":"01a2225e-721a-7444-a16c-db2a0dce183d","ordinal":1,"agent":{"id":"mock","version":"6ede16b62d51","target":"mock","simulated":true,"base_dir":"suites"}}]}],"repeats":1,"seed":42,"cost_limit_usd":null,"token_limit":null,"prices":[],"prices_file":"","gates":[],"tags":[],"notes":"","command":"agentbench run suites/tiny.yaml --no-ui --db suites/three.db --agent mock"}','agentbench run suites/tiny.yaml --no-ui --db suites/three.db --agent mock',42,1,'[]','','6752c9c78d75b6498b3043ec17a304385f9e53f0ce619573a558458008670b7a','{"commit":"08e40856f0a5693cc0cc66ecf6c53b2a7246289d","branch":"main","dirty":true,"diff_hash":"7120d39e6ce958254bded5162d7bdae7b2db71f1685ff6de7f1aaba890dba29b","missing":{}}','{"wall_seconds":2.6489815969980555,"cpu_seconds":0.49513943800000004,"run_queue_wait_ms":28.015749,"psi_cpu_percent":6.870149653219111,"psi_cpu_avg10":0.18,"gc_pause_ms":15.249742,"gc_pause_max_ms":1.77697,"gc_collections":86,"load_before":0.17333984375,"load_after":0.1591796875,"verdict":"clean","reasons":[],"gauges":{"readings":4,"p50_ms":4.887054004939273,"max_ms":14.941319001081865,"cpu_seconds":0.037815168,"skipped":0,"errors":0,"last_error":null,"gpu_reason":"no GPU found (NVIDIA: NVML says: NVML Shared Library Not Found; AMD: no card of the amdgpu driver in /sys/class/drm)"}}','clean','0.1.0','{"boot_id":"afa7e37a-97ae-46e4-924b-85bd8cb7ed4e","pid":24020,"since":1795872944.6878197}','2026-11-28T13:35:44.691Z','2026-11-28T13:35:47.370Z',NULL);
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
INSERT INTO "sample_chunks" VALUES(1,1,2,0,0,3,X'780133616464640001100962C23158144240542009409991407A0D3303C3EF63105CDCC4CAA00014036101200681CDE220928F81216001C3E136A0F991932EADB1AD626661F9ED1E78ECF8710859DCBF5040400400DAF315F7',X'7801636164646098AA0EC466A56D9DAD7CEA4A535C6C26CDEB68D67CFDE35C58E45791F23962EA11BE5949EC6A6AA7591CBA579BDC507BC47C2B30F2075FCD7C256B0F95899724029778E65FEC5C5778F4DF3FD59FFF63BFF3FE135674B39DACFBF799DFAB25FBD876A93AABABAB01211000090D5520A1A60622E0623019B010928C862A588B1A9006E90021A81E9029501E00327739AE');
INSERT INTO "sample_chunks" VALUES(2,1,2,0,0,3,X'780133616464640001100962C231581442405420043E78328139DB80E42B160606E11310FCA3899541012806C202400C029BC541241FC30787099EBC17989899B7ED4878D5F08D858559D8D0E0C4F1E310F24751AB80102F002E6E1656',X'7801636164646038A506C43FFF69FDF2E0F9C6CFC9AEE0613D5B875946E0F5C2FD1CBB54CFCD7E65C9A61B1EFE97A762B692A393D28CB3D2FE2B1FEE643C742AF2B280C4BFC2000386A552DB154CBDB55AD6F2B9EDD1C9643A725947675FE8DB121B458E6DE226EE535454D5D4D4D4D5D4410804D434C06C8810440CCC06C9A8825401214412AC1AAA072C039485EA059903C100FFAC3453');
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
INSERT INTO "ticks" VALUES(1,1,1,1.79587294571778964989e+09,1,1,0,33,0.0,X'940100CE0002025001',0,0,0,NULL);
INSERT INTO "ticks" VALUES(2,1,2,1.79587294632031774527e+09,6,6,0,192,0.0,X'940100CE0002024F06',0,6,0,X'940100CE0002018B06');
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
CREATE INDEX baselines_target ON baselines (kind, target);
CREATE INDEX accepted_changes_run ON accepted_changes (run_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',1);
INSERT INTO "sqlite_sequence" VALUES('benchmark_executions',2);
INSERT INTO "sqlite_sequence" VALUES('gauges',5);
INSERT INTO "sqlite_sequence" VALUES('answers',1);
INSERT INTO "sqlite_sequence" VALUES('iterations',2);
INSERT INTO "sqlite_sequence" VALUES('ticks',2);
INSERT INTO "sqlite_sequence" VALUES('sample_chunks',2);
INSERT INTO "sqlite_sequence" VALUES('calibrations',1);
COMMIT;
PRAGMA user_version=3;
