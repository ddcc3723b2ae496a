-- Documents by name are a kind of memory, whose key is its path. A CHECK is changed in the schema's own row, as SQLite's
-- documentation of ALTER TABLE says for changes that leave every row as it is: whatever columns the table has by now, they stay.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, '''rollup'', ''instruction'')', '''rollup'', ''instruction'', ''document'')')
WHERE type = 'table' AND name = 'memory';
PRAGMA writable_schema = RESET;

-- What stands at a path now, and what ever stood there.
CREATE INDEX memory_path ON memory (namespace, user_id, fact_key, number)
  WHERE unrecorded_at IS NULL AND kind = 'document' AND state = 'active';
CREATE INDEX memory_former_path ON memory (namespace, user_id, fact_key, number)
  WHERE unrecorded_at IS NULL AND kind = 'document';
-- What is found by its digest comes in order: nothing is sorted where there is one.
DROP INDEX memory_digest;
CREATE INDEX memory_digest ON memory (namespace, user_id, digest, number) WHERE unrecorded_at IS NULL AND state = 'active';
