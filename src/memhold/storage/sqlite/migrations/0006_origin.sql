-- Who said it, of each message and memory; when a person last confirmed a memory; in whose name a token writes.
-- A message's origin follows from its role where nobody recorded it: an application added it for its user.

ALTER TABLE message ADD COLUMN origin TEXT NOT NULL DEFAULT 'user'
  CHECK (origin IN ('user', 'agent', 'tool', 'import', 'rules', 'model'));
ALTER TABLE message ADD COLUMN actor TEXT;
UPDATE message SET origin = CASE
  WHEN EXISTS (SELECT 1 FROM change AS c WHERE c.namespace = message.namespace AND c.user_id = message.user_id
    AND c.id = message.change_id AND c.by LIKE '{"origin":"import"%') THEN 'import'
  WHEN role = 'assistant' THEN 'agent'
  WHEN role IN ('tool', 'function') THEN 'tool'
  ELSE 'user' END;

-- A CHECK is changed in the schema's own row, as SQLite's documentation of ALTER TABLE says for changes that leave every row
-- as it is: whatever columns the table has by now, they stay.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, '(''user'', ''model'', ''rules'', ''import'')',
  '(''user'', ''agent'', ''tool'', ''import'', ''rules'', ''model'')')
WHERE type = 'table' AND name = 'memory';
PRAGMA writable_schema = RESET;
ALTER TABLE memory ADD COLUMN actor TEXT;                -- the name of who said it: a client, a model, a format
ALTER TABLE memory ADD COLUMN last_confirmed_at INTEGER; -- when a person last said that it is so

-- The digests cover who said it: they are made anew.
UPDATE message SET crc = NULL;
UPDATE memory SET crc = NULL;

-- The newest that the user told or a model learnt, and that others brought: neither reads past the other.
CREATE INDEX memory_told ON memory (namespace, user_id, kind, state, tier, number)
  WHERE unrecorded_at IS NULL AND origin IN ('user', 'model');
CREATE INDEX memory_brought ON memory (namespace, user_id, kind, state, tier, number)
  WHERE unrecorded_at IS NULL AND origin IN ('agent', 'tool', 'import', 'rules');

ALTER TABLE token ADD COLUMN actor TEXT NOT NULL DEFAULT 'user';
