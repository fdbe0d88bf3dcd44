-- A database of schema 4 with a task and a load, as the last program that knew no other wrote it.
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
INSERT INTO "agent_versions" VALUES('good','88fe01bfd07d','{"id":"good","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"/suites"}','2026-11-28T14:03:54.072Z');
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "agents" VALUES('good','good','2026-11-28T14:03:54.072Z');
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
INSERT INTO "answers" VALUES(1,1,1,1,0,0,0,NULL,186.178474,0.036715,0.0,NULL,NULL,NULL,NULL,NULL,0,1,NULL,1.0,1,'{"text":"0","simulated":true}','[{"scorer":"exact","value":1.0,"correct":true}]');
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
INSERT INTO "benchmark_executions" VALUES(1,'01a22278-390f-7ec4-9062-08447f02f7b2',1,0,'d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae','small','echo','good','88fe01bfd07d','01a22278-3924-792b-9894-143df3a1a2cb','{}',42,1,1,'a6f50dd5262eec08a4986e972f3f560a0879616b98b7b9b78934aee43cf71049','{"id":"good","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"/suites"}','2026-11-28T14:03:54.117Z','2026-11-28T14:03:54.448Z',330,1.72110800485825166106e-03,1.0,NULL,NULL,NULL,1.0,1.0,2.06549314377237447359e-01,1.0,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,50.0,NULL,1,1,1,1,'complete',NULL,NULL,'2026-11-28T14:03:54.072Z');
INSERT INTO "benchmark_executions" VALUES(2,'01a22278-390f-7db3-b716-840d024c6a74',1,1,'d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae','small','burst','good','88fe01bfd07d','01a22278-3924-792b-9894-143df3a1a2cb','{}',42,NULL,1,'a6f50dd5262eec08a4986e972f3f560a0879616b98b7b9b78934aee43cf71049','{"id":"good","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"/suites"}','2026-11-28T14:03:54.476Z','2026-11-28T14:03:55.201Z',725,0.3,NULL,NULL,NULL,NULL,1.0,NULL,NULL,NULL,NULL,6,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,6,6,6,0,'complete',NULL,NULL,'2026-11-28T14:03:54.072Z');
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
INSERT INTO "benchmark_suites" VALUES('d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae','small','small','comprehensive','1','','{"suite_id":"small","name":"","description":"","category":"comprehensive","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"echo","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"c0","input":"0?","expected":"0"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"game":null,"experiment":null,"load":{},"stress":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},{"benchmark_id":"burst","name":"","description":"","kind":"load","test_type":"synthetic","metrics_measured":[],"dataset":null,"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":[],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"game":null,"experiment":null,"load":{"rate":20,"requests":6,"warmup_requests":0},"stress":{},"iterations":{"warmup":3,"measured":5},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":1.0,"speed":0.0,"efficiency":0.0,"cost":0.0,"reliability":0.0},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1}','{"suite_id":"small","weights":{"accuracy":1,"speed":0,"efficiency":0,"cost":0,"reliability":0},
"benchmarks":[{"benchmark_id":"echo","dataset":{"cases":[{"id":"c0","input":"0?","expected":"0"}]},"scorers":["exact"],"iterations":{"warmup":0,"measured":1}},
{"benchmark_id":"burst","kind":"load","load":{"rate":20,"requests":6,"warmup_requests":0}}]}
','2026-11-28T14:03:54.072Z');
CREATE TABLE benchmarks (
    suite_hash TEXT NOT NULL REFERENCES benchmark_suites (hash),
    benchmark_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    test_type TEXT NOT NULL,
    PRIMARY KEY (suite_hash, benchmark_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "benchmarks" VALUES('d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae','burst','burst','','load','synthetic');
INSERT INTO "benchmarks" VALUES('d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae','echo','echo','','task','synthetic');
CREATE TABLE calibrations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER REFERENCES runs (key) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,          -- of the machine, as in environments
    document TEXT NOT NULL              -- load.window.Calibration, JSON
) STRICT;
CREATE TABLE cases (
    key INTEGER PRIMARY KEY,
    dataset_key INTEGER NOT NULL REFERENCES datasets (key) ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    body TEXT NOT NULL,                 -- model.answer.Case, JSON
    UNIQUE (dataset_key, case_id)
) STRICT;
INSERT INTO "cases" VALUES(1,1,'c0','{"id":"c0","input":"0?","expected":"0"}');
CREATE TABLE datasets (
    key INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,          -- of the selected cases, in the order they are asked
    source TEXT NOT NULL,
    cases INTEGER NOT NULL
) STRICT;
INSERT INTO "datasets" VALUES(1,'8e21d50b224d6f2828e8dae9f26dde765dc5cb8038bea43a70c73af361512abe','inline',1);
CREATE TABLE environments (
    hash TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,          -- equal for machines whose timings may be compared
    document TEXT NOT NULL
) STRICT;
INSERT INTO "environments" VALUES('a6f50dd5262eec08a4986e972f3f560a0879616b98b7b9b78934aee43cf71049','9cc4753ce890a805d36622159494e5c649ff95303b36f3447e0c19aa966311a4','{"cpu_count": 2}');
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
INSERT INTO "gauge_summaries" VALUES(1,'host','disk_free_mb',79578.845184,79578.845184,79578.845184,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','load1',2.94921875,2.94921875,2.94921875,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','memory_available_mb',24317.739008,24317.739008,24317.739008,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','memory_total_mb',25276.514304,25276.514304,25276.514304,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','memory_used_mb',958.775296,958.775296,958.775296,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','psi_cpu_percent',41.52,41.52,41.52,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','psi_io_percent',1.92,1.92,1.92,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','psi_memory_percent',0.0,0.0,0.0,1);
INSERT INTO "gauge_summaries" VALUES(1,'host','swap_used_mb',0.0,0.0,0.0,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','busiest_core_percent',98.0,98.0,98.0,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','cpu_percent',96.95,96.95,96.95,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','disk_free_mb',79572.492288,7.95756687359999923501e+04,79578.845184,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','disk_read_bytes_per_s',8.19084908736716170093e+03,8.19084908736716170093e+03,8.19084908736716170093e+03,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','disk_write_bytes_per_s',2.17057500815229788412e+07,2.17057500815229788412e+07,2.17057500815229788412e+07,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','load1',2.94921875,2.94921875,2.94921875,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','memory_available_mb',24275.009536,24296.374272,24317.739008,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','memory_total_mb',25276.514304,25276.514304,25276.514304,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','memory_used_mb',958.775296,980.140032,1001.504768,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','net_received_bytes_per_s',0.0,0.0,0.0,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','net_sent_bytes_per_s',0.0,0.0,0.0,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','psi_cpu_percent',41.52,4.26500000000000056843e+01,43.78,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','psi_io_percent',1.92,2.2,2.48,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','psi_memory_percent',0.0,0.0,0.0,2);
INSERT INTO "gauge_summaries" VALUES(2,'host','run_queue_wait_ms_per_s',1.13064967014721602818e+02,1.13064967014721602818e+02,1.13064967014721602818e+02,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','steal_percent',0.0,0.0,0.0,1);
INSERT INTO "gauge_summaries" VALUES(2,'host','swap_used_mb',0.0,0.0,0.0,2);
CREATE TABLE gauges (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    at REAL NOT NULL,                   -- seconds since 1970
    scope TEXT NOT NULL,                -- host | agent:ID | gpu:INDEX
    reading TEXT NOT NULL               -- JSON; a field that is not known is absent
) STRICT;
INSERT INTO "gauges" VALUES(1,1,1.79587463414477491382e+09,'host','{"load1":2.94921875,"memory_used_mb":958.775296,"memory_available_mb":24317.739008,"memory_total_mb":25276.514304,"swap_used_mb":0.0,"disk_free_mb":79578.845184,"psi_cpu_percent":41.52,"psi_memory_percent":0.0,"psi_io_percent":1.92}');
INSERT INTO "gauges" VALUES(2,1,1.79587463514491415018e+09,'host','{"cpu_percent":96.95,"core_percent":[95.9,98.0],"busiest_core_percent":98.0,"steal_percent":0.0,"load1":2.94921875,"memory_used_mb":1001.504768,"memory_available_mb":24275.009536,"memory_total_mb":25276.514304,"swap_used_mb":0.0,"disk_read_bytes_per_s":8190.849087367162,"disk_write_bytes_per_s":21705750.08152298,"disk_free_mb":79572.492288,"net_received_bytes_per_s":0.0,"net_sent_bytes_per_s":0.0,"psi_cpu_percent":43.78,"psi_memory_percent":0.0,"psi_io_percent":2.48,"run_queue_wait_ms_per_s":113.0649670147216}');
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
INSERT INTO "iterations" VALUES(1,1,1,0,0,0,'ok','2026-11-28T14:03:54.259Z',1.72110800485825166106e-03,1,1,1,NULL,NULL);
INSERT INTO "iterations" VALUES(2,1,2,0,0,0,'ok','2026-11-28T14:03:54.915Z',0.3,6,6,0,NULL,NULL);
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
INSERT INTO "load_summaries" VALUES(2,1,'noisy','{"verdict":"noisy","reasons":["some task waited for a core 23.7 % of the time (limit 10 %)","the senders'' overhead was not measured (no calibration)","the agent runs inside the sender, whose CPU time and delays are in part or whole the agent''s (behind `worker:` it has a process of its own)"],"limit":"none","warnings":[],"is_open":true,"on_this_machine":true,"slo":{},"repeats":1,"steady":[[0.0,0.3]],"tokens_estimated":false,"requests":{"asked_per_s":20.0,"sent_per_s":20.0,"offered":6,"sent":6,"ok":6,"failed":{},"cancelled":0,"unfinished":0,"unsent":0,"connections":null,"resent":null,"sent_bytes":null,"received_bytes":null},"harness":{"overhead_p50_ms":null,"overhead_p99_ms":null,"ceiling_per_s":null,"calibrated_at":null,"calibrated_rate_per_s":null,"cpu_us_per_request":801.0848333333357,"cpu_share":0.016021696666666717,"workers":1,"realtime":false,"window_s":0.3,"drained_s":0.000066348,"lateness_p50_ms":0.07929364874005472,"lateness_p99_ms":0.70784901944396,"lateness_max_ms":0.710452,"late":0,"blocked":0,"most_in_flight":1,"run_queue_wait_ms":1.831592,"psi_cpu_percent":23.69497139379409,"gc_pause_ms":0.0,"gc_pause_max_ms":0.0,"peak_rss_mb":39.616512}}');
CREATE TABLE load_windows (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    document TEXT NOT NULL,             -- load.window.Window, JSON
    PRIMARY KEY (execution_key, repeat)
) STRICT, WITHOUT ROWID;
INSERT INTO "load_windows" VALUES(2,0,1,'{"is_open":true,"asked_per_s":20.0,"asked":6.0,"started_at":"2026-11-28T14:03:54.915Z","ramp_s":null,"slo":{},"max_in_flight":null,"on_this_machine":true,"workers":[{"type":"done","offered":6,"sent":6,"window_s":0.3,"drained_s":0.000066348,"cpu_s":0.004806509000000014,"connections":null,"resent":null,"sent_bytes":null,"received_bytes":null,"most_in_flight":1,"blocked":0,"late":0,"lateness":{"p50_ms":0.07929364874005472,"p99_ms":0.70784901944396,"max_ms":0.710452,"n":25},"run_queue_wait_ms":1.831592,"gc_pause_ms":0.0,"gc_pause_max_ms":0.0,"peak_rss_mb":39.616512,"stopped":false,"realtime":false,"probed_s":0.2538255649997154}],"calibration":null,"psi_cpu_percent":23.69497139379409,"stopped":false,"agent_inside":true}');
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
INSERT INTO "meta" VALUES('workspace_id','01a22278-3924-792b-9894-143df3a1a2cb');
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
INSERT INTO "metrics" VALUES(1,'accuracy',1.0,'share',2.06549314377237447359e-01,1.0,1,NULL);
INSERT INTO "metrics" VALUES(1,'api_calls',1.0,'calls',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'completeness',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'correct_share',1.0,'share',2.06549314377237447359e-01,1.0,1,NULL);
INSERT INTO "metrics" VALUES(1,'correctness',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'cost_usd',NULL,'USD',NULL,NULL,1,'the agent did not say how many tokens it used (1 answers)');
INSERT INTO "metrics" VALUES(1,'cost_usd_per_correct',NULL,'USD',NULL,NULL,1,'the agent did not say how many tokens it used (1 answers)');
INSERT INTO "metrics" VALUES(1,'cost_usd_per_task',NULL,'USD',NULL,NULL,1,'the agent did not say how many tokens it used (1 answers)');
INSERT INTO "metrics" VALUES(1,'cpu_ms_per_correct',NULL,'ms',NULL,NULL,1,'the agent has no process of its own here');
INSERT INTO "metrics" VALUES(1,'cpu_usage_percent',NULL,'%',NULL,NULL,1,'the agent has no process of its own here');
INSERT INTO "metrics" VALUES(1,'e2e_ms.mean',0.036715,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p50',0.036715,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'e2e_ms.p90',NULL,'ms',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'e2e_ms.p95',NULL,'ms',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'e2e_ms.p99',NULL,'ms',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(1,'input_tokens.mean',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p50',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p90',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p95',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'input_tokens.p99',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'memory_peak_mb',NULL,'MB',NULL,NULL,1,'the agent has no process of its own here');
INSERT INTO "metrics" VALUES(1,'output_tokens.mean',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p50',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p90',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p95',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'output_tokens.p99',NULL,'tokens',NULL,NULL,0,'not reported by the agent');
INSERT INTO "metrics" VALUES(1,'relevance',NULL,'share',NULL,NULL,0,'no scorer gives it');
INSERT INTO "metrics" VALUES(1,'reliability',1.0,'share',2.06549314377237447359e-01,1.0,1,NULL);
INSERT INTO "metrics" VALUES(1,'retries',0.0,'attempts',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'throughput_per_s',5.81021061535507101327e+02,'1/s',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'tokens_per_correct',NULL,'tokens',NULL,NULL,0,'the agent does not report tokens');
INSERT INTO "metrics" VALUES(1,'tokens_used',NULL,'tokens',NULL,NULL,0,'the agent does not report tokens');
INSERT INTO "metrics" VALUES(1,'ttft_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'ttft_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(1,'waiting_ms.mean',0.0,'ms',NULL,NULL,1,NULL);
INSERT INTO "metrics" VALUES(1,'waiting_ms.p50',NULL,'ms',NULL,NULL,1,'needs 5 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p90',NULL,'ms',NULL,NULL,1,'needs 29 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p95',NULL,'ms',NULL,NULL,1,'needs 59 (have 1)');
INSERT INTO "metrics" VALUES(1,'waiting_ms.p99',NULL,'ms',NULL,NULL,1,'needs 299 (have 1)');
INSERT INTO "metrics" VALUES(2,'accuracy',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'api_calls',6.0,'calls',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'completeness',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'connections',NULL,'connections',NULL,NULL,6,'the target''s own adapter talks to it: what goes over the network is not seen');
INSERT INTO "metrics" VALUES(2,'correct_share',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'correctness',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'cost_usd',NULL,'USD',NULL,NULL,6,'the prices of its tokens are not known');
INSERT INTO "metrics" VALUES(2,'cost_usd_per_correct',NULL,'USD',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'cost_usd_per_task',NULL,'USD',NULL,NULL,6,'the prices of its tokens are not known');
INSERT INTO "metrics" VALUES(2,'cpu_ms_per_correct',NULL,'ms',NULL,NULL,6,'the target''s processes are not followed under load');
INSERT INTO "metrics" VALUES(2,'cpu_usage_percent',NULL,'%',NULL,NULL,6,'the target''s processes are not followed under load');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.max',0.543,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.mean',2.25333333333333357684e-01,'ms',6.19854930972513207265e-02,3.88681173569415394641e-01,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p50',0.163,'ms',0.158,0.543,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_from_send_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.max',1.031,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_ms.mean',4.58333333333333314829e-01,'ms',1.16935504827427483309e-01,7.99731161839239090838e-01,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_ms.p50',0.2655,'ms',0.251,1.031,6,NULL);
INSERT INTO "metrics" VALUES(2,'e2e_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'e2e_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'error_rate',0.0,'share',0.0,3.90334287902165177897e-01,6,NULL);
INSERT INTO "metrics" VALUES(2,'goodput_per_s',NULL,'1/s',NULL,NULL,6,'no limits are given (`slo`)');
INSERT INTO "metrics" VALUES(2,'goodput_share',NULL,'share',NULL,NULL,6,'no limits are given (`slo`)');
INSERT INTO "metrics" VALUES(2,'icl_ms.max',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'icl_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'icl_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'icl_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'icl_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'icl_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'icl_ms.p999',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'input_tokens.max',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens.mean',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens.p50',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens.p90',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens.p95',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens.p99',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens.p999',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'input_tokens_per_s',NULL,'tokens/s',NULL,NULL,6,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'itl_ms.max',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'itl_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'itl_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'itl_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'itl_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'itl_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'itl_ms.p999',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'memory_peak_mb',NULL,'MB',NULL,NULL,6,'the target''s processes are not followed under load');
INSERT INTO "metrics" VALUES(2,'output_tokens.max',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens.mean',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens.p50',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens.p90',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens.p95',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens.p99',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens.p999',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens_per_s',NULL,'tokens/s',NULL,NULL,6,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'output_tokens_per_s_per_user',NULL,'tokens/s',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'queue_ms.max',0.0,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.mean',0.0,'ms',0.0,0.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.p50',0.0,'ms',0.0,0.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'queue_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'queue_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'queue_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'queue_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'received_bytes',NULL,'bytes',NULL,NULL,6,'the target''s own adapter talks to it: what goes over the network is not seen');
INSERT INTO "metrics" VALUES(2,'relevance',NULL,'share',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'reliability',1.0,'share',6.09665712097834822102e-01,1.0,6,NULL);
INSERT INTO "metrics" VALUES(2,'request_throughput_per_s',20.0,'1/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'retries',NULL,'attempts',NULL,NULL,6,'the target''s own adapter talks to it: what goes over the network is not seen');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.max',0.867,'ms',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.mean',0.233,'ms',0.0,5.59218887487064497676e-01,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p50',0.104,'ms',0.093,0.867,6,NULL);
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p90',NULL,'ms',NULL,NULL,6,'needs 29 (have 6)');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p95',NULL,'ms',NULL,NULL,6,'needs 59 (have 6)');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p99',NULL,'ms',NULL,NULL,6,'needs 299 (have 6)');
INSERT INTO "metrics" VALUES(2,'send_lag_ms.p999',NULL,'ms',NULL,NULL,6,'needs 2,995 (have 6)');
INSERT INTO "metrics" VALUES(2,'sent_per_s',20.0,'1/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'sent_share',1.0,'share',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'throughput_per_s',2.39355654577876322255e+01,'1/s',NULL,NULL,6,NULL);
INSERT INTO "metrics" VALUES(2,'tokens_per_correct',NULL,'tokens',NULL,NULL,6,'load does not judge answers');
INSERT INTO "metrics" VALUES(2,'tokens_used',NULL,'tokens',NULL,NULL,0,'no answer says how many tokens it has');
INSERT INTO "metrics" VALUES(2,'tpot_ms.max',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'tpot_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'tpot_ms.p999',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.max',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttfo_ms.p999',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.max',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_from_send_ms.p999',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.max',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.mean',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p50',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p90',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p95',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p99',NULL,'ms',NULL,NULL,0,'not streamed');
INSERT INTO "metrics" VALUES(2,'ttft_ms.p999',NULL,'ms',NULL,NULL,0,'not streamed');
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
INSERT INTO "runs" VALUES(1,'01a22278-390f-7a8d-a579-ca1f55c94e3c','01a22278-3924-792b-9894-143df3a1a2cb','complete',NULL,'["small"]','{"run_id":"01a22278-390f-7a8d-a579-ca1f55c94e3c","suites":[{"hash":"d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae","suite_id":"small","document":{"suite_id":"small","name":"","description":"","category":"comprehensive","version":"1","created_at":null,"benchmarks":[{"benchmark_id":"echo","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"c0","input":"0?","expected":"0"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"game":null,"experiment":null,"load":{},"stress":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},{"benchmark_id":"burst","name":"","description":"","kind":"load","test_type":"synthetic","metrics_measured":[],"dataset":null,"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":[],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"game":null,"experiment":null,"load":{"rate":20,"requests":6,"warmup_requests":0},"stress":{},"iterations":{"warmup":3,"measured":5},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""}],"agents":[],"parameters":{},"weights":{"accuracy":1.0,"speed":0.0,"efficiency":0.0,"cost":0.0,"reliability":0.0},"baseline_scores":[],"baseline":null,"prices":[],"cost_limit_usd":null,"token_limit":null,"gates":[],"seed":42,"tags":[],"notes":"","output_dir":null,"parallelism":1},"source":"{\"suite_id\":\"small\",\"weights\":{\"accuracy\":1,\"speed\":0,\"efficiency\":0,\"cost\":0,\"reliability\":0},\n\"benchmarks\":[{\"benchmark_id\":\"echo\",\"dataset\":{\"cases\":[{\"id\":\"c0\",\"input\":\"0?\",\"expected\":\"0\"}]},\"scorers\":[\"exact\"],\"iterations\":{\"warmup\":0,\"measured\":1}},\n{\"benchmark_id\":\"burst\",\"kind\":\"load\",\"load\":{\"rate\":20,\"requests\":6,\"warmup_requests\":0}}]}\n"}],"groups":[{"suite_id":"small","suite_hash":"d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae","benchmark":{"benchmark_id":"echo","name":"","description":"","kind":"task","test_type":"synthetic","metrics_measured":[],"dataset":{"size":null,"complexity":"medium","data_source":null,"cases":[{"id":"c0","input":"0?","expected":"0"}],"fields":{},"filter":{},"limit":null,"shuffle":false},"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":["exact"],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"game":null,"experiment":null,"load":{},"stress":{},"iterations":{"warmup":0,"measured":1},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},"parameters":{},"values":{},"seed":42,"base_dir":"/suites","case_ids":[],"executions":[{"id":"01a22278-390f-7ec4-9062-08447f02f7b2","ordinal":0,"agent":{"id":"good","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"/suites"}}]},{"suite_id":"small","suite_hash":"d5c185fc3672c9d56aac194b06046a2ed9f626e991305c8c345222a37fe4c1ae","benchmark":{"benchmark_id":"burst","name":"","description":"","kind":"load","test_type":"synthetic","metrics_measured":[],"dataset":null,"constraints":{"time_limit_ms":null,"memory_limit_mb":null,"token_limit":null,"cost_limit_usd":null},"expected_outputs":null,"scorers":[],"scoring_rubric":{},"system_prompt":null,"prompt":null,"parameters":{},"game":null,"experiment":null,"load":{"rate":20,"requests":6,"warmup_requests":0},"stress":{},"iterations":{"warmup":3,"measured":5},"early_stop":{"metric":"accuracy","half_width":null,"hopeless_below":null,"harness_failures":10},"seed":null,"sweep":null,"concurrency":1,"retries":2,"instruments":[],"tags":[],"notes":""},"parameters":{},"values":{},"seed":42,"base_dir":"/suites","case_ids":[],"executions":[{"id":"01a22278-390f-7db3-b716-840d024c6a74","ordinal":1,"agent":{"id":"good","version":"88fe01bfd07d","target":"reference:perfect","simulated":true,"base_dir":"/suites"}}]}],"repeats":1,"seed":42,"cost_limit_usd":null,"token_limit":null,"prices":[],"prices_file":"","gates":[],"tags":[],"notes":"","command":"agentbench run s.json --no-ui --quiet --agent good=reference:perfect --db o.db"}','agentbench run s.json --no-ui --quiet --agent good=reference:perfect --db o.db',42,1,'[]','','a6f50dd5262eec08a4986e972f3f560a0879616b98b7b9b78934aee43cf71049',NULL,'{"wall_seconds":1.1174646080035018,"cpu_seconds":0.311211122,"run_queue_wait_ms":137.681384,"psi_cpu_percent":56.82291818928105,"psi_cpu_avg10":43.78,"gc_pause_ms":19.349923,"gc_pause_max_ms":10.729726,"gc_collections":46,"load_before":2.94921875,"load_after":2.94921875,"verdict":"noisy","reasons":["the harness waited 12.3% of the time for a core (limit 5%)","some task waited for a core 56.8 % of the time (limit 10 %)","agents ran inside the harness: its CPU share was not judged"],"gauges":{"readings":3,"p50_ms":1.3748649944318458,"max_ms":25.35260299919173,"cpu_seconds":0.026651913,"skipped":0,"errors":0,"last_error":null,"gpu_reason":"no GPU found (NVIDIA: NVML says: NVML Shared Library Not Found; AMD: no card of the amdgpu driver in /sys/class/drm)"}}','noisy','0.1.0','{"boot_id":"afa7e37a-97ae-46e4-924b-85bd8cb7ed4e","pid":24219,"since":1795874634.0693057}','2026-11-28T14:03:54.072Z','2026-11-28T14:03:55.236Z',NULL);
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
INSERT INTO "sample_chunks" VALUES(1,1,2,0,0,5,X'78013361646464000128056683F970166E461A50EA3F125804558A24F41FAE3B60C1070786C36D9EBC40BB9898D362B352924172CC8BE6CD5FB60400FB9B2210',X'');
INSERT INTO "sample_chunks" VALUES(2,1,2,0,0,1,X'7801336164201D4CB8C00CD6D40424FF2301792688594842FF61A64F0000DBE31AB4',X'');
CREATE TABLE stress_reports (
    execution_key INTEGER PRIMARY KEY REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    document TEXT NOT NULL              -- stress.report.ScenarioReport, JSON
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
, repeat INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, ttft_histogram BLOB) STRICT;
INSERT INTO "ticks" VALUES(1,1,1,1.79587463511705827711e+09,1,1,1,0,0.0,X'940100CE0001FEB301',0,0,0,NULL);
INSERT INTO "ticks" VALUES(2,1,2,1.79587463517206740379e+09,6,6,0,0,0.0,X'9A0100CE0001FF750105035E012B01',0,6,0,X'920100');
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
INSERT INTO "sqlite_sequence" VALUES('gauges',3);
INSERT INTO "sqlite_sequence" VALUES('answers',1);
INSERT INTO "sqlite_sequence" VALUES('iterations',2);
INSERT INTO "sqlite_sequence" VALUES('ticks',2);
INSERT INTO "sqlite_sequence" VALUES('sample_chunks',2);
COMMIT;
PRAGMA user_version=4;
