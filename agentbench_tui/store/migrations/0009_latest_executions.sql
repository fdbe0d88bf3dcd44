-- The latest executions are found in an index, without reading every execution.

CREATE INDEX executions_latest ON benchmark_executions (
    status, agent_id, suite_id, benchmark_id, parameters, simulated, agent_version, created_at,
    run_key
);

DROP VIEW latest_executions;
CREATE VIEW latest_executions AS
SELECT e.*
FROM (
    SELECT agent_id, suite_id, benchmark_id, parameters, simulated, MAX(created_at) AS newest
    FROM benchmark_executions
    WHERE status = 'complete'
    GROUP BY agent_id, suite_id, benchmark_id, parameters, simulated
) n
-- CROSS keeps SQLite to this order: one look into the index for each of the latest.
CROSS JOIN benchmark_executions e
    ON e.status = 'complete'
    AND e.agent_id = n.agent_id
    AND e.suite_id = n.suite_id
    AND e.benchmark_id = n.benchmark_id
    AND e.parameters = n.parameters
    AND e.simulated = n.simulated
    AND e.created_at = n.newest;
