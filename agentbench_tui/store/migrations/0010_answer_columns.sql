-- Numbers of all answers of a large execution by column, beside the rows: a verdict reads a few
-- columns at once instead of a row for each answer.

CREATE TABLE answer_columns (
    execution_key INTEGER NOT NULL REFERENCES benchmark_executions (key) ON DELETE CASCADE,
    name TEXT NOT NULL,
    n INTEGER NOT NULL,
    known INTEGER NOT NULL,             -- values that are known
    known_answered INTEGER NOT NULL,    -- of these, of answers that did not fail
    content BLOB NOT NULL,              -- little-endian, see engine.task.observation_columns
    PRIMARY KEY (execution_key, name)
) STRICT;

-- They go as soon as they would differ from the rows, whoever changes these.
CREATE TRIGGER answers_added AFTER INSERT ON answers
WHEN EXISTS (SELECT 1 FROM answer_columns WHERE execution_key = NEW.execution_key)
BEGIN
    DELETE FROM answer_columns WHERE execution_key = NEW.execution_key;
END;

CREATE TRIGGER answers_changed AFTER UPDATE ON answers
WHEN EXISTS (
    SELECT 1 FROM answer_columns WHERE execution_key IN (OLD.execution_key, NEW.execution_key)
)
BEGIN
    DELETE FROM answer_columns WHERE execution_key IN (OLD.execution_key, NEW.execution_key);
END;

CREATE TRIGGER answers_removed AFTER DELETE ON answers
WHEN EXISTS (SELECT 1 FROM answer_columns WHERE execution_key = OLD.execution_key)
BEGIN
    DELETE FROM answer_columns WHERE execution_key = OLD.execution_key;
END;

-- What tells the cases of a large dataset apart, by column as well: hashes of 8 bytes in the order
-- of the cases, little-endian. Cases of a dataset never change.
CREATE TABLE case_hashes (
    dataset_key INTEGER PRIMARY KEY REFERENCES datasets (key) ON DELETE CASCADE,
    identity BLOB NOT NULL,             -- of id and body
    content BLOB NOT NULL,              -- of the body without the id
    cluster BLOB NOT NULL               -- of the cluster; 0 without one
) STRICT;

CREATE TRIGGER cases_changed AFTER UPDATE ON cases
WHEN EXISTS (SELECT 1 FROM case_hashes WHERE dataset_key IN (OLD.dataset_key, NEW.dataset_key))
BEGIN
    DELETE FROM case_hashes WHERE dataset_key IN (OLD.dataset_key, NEW.dataset_key);
END;

CREATE TRIGGER cases_removed AFTER DELETE ON cases
WHEN EXISTS (SELECT 1 FROM case_hashes WHERE dataset_key = OLD.dataset_key)
BEGIN
    DELETE FROM case_hashes WHERE dataset_key = OLD.dataset_key;
END;
