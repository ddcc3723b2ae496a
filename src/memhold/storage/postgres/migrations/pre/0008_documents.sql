-- Documents by name are a kind of memory, whose key is its path.

ALTER TABLE memory DROP CONSTRAINT memory_kind_check;
ALTER TABLE memory ADD CONSTRAINT memory_kind_check
  CHECK (kind IN ('fact', 'note', 'summary', 'raw', 'rollup', 'instruction', 'document'));

-- What stands at a path now, and what ever stood there; by the beginning of the key, since an entry of an index is bounded.
CREATE INDEX memory_path ON memory (namespace, user_id, left(fact_key, 100))
  WHERE unrecorded_at IS NULL AND kind = 'document' AND state = 'active';
CREATE INDEX memory_former_path ON memory (namespace, user_id, left(fact_key, 100))
  WHERE unrecorded_at IS NULL AND kind = 'document';
