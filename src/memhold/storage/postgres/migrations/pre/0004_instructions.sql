-- Standing instructions are a kind of memory.

ALTER TABLE memory DROP CONSTRAINT memory_kind_check;
ALTER TABLE memory ADD CONSTRAINT memory_kind_check
  CHECK (kind IN ('fact', 'note', 'summary', 'raw', 'rollup', 'instruction'));
