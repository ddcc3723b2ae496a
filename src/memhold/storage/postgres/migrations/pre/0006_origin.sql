-- Who said it, of each message and memory; when a person last confirmed a memory; in whose name a token writes.
-- A message's origin follows from its role where nobody recorded it: an application added it for its user.

ALTER TABLE message ADD COLUMN origin TEXT COLLATE "C" NOT NULL DEFAULT 'user'
  CHECK (origin IN ('user', 'agent', 'tool', 'import', 'rules', 'model'));
ALTER TABLE message ADD COLUMN actor TEXT COLLATE "C";

-- The owner of the tables reaches every scope only while the second wall does not bind it; nobody else does meanwhile.
ALTER TABLE message NO FORCE ROW LEVEL SECURITY;
ALTER TABLE change NO FORCE ROW LEVEL SECURITY;
UPDATE message SET origin = CASE
  WHEN EXISTS (SELECT 1 FROM change AS c WHERE c.namespace = message.namespace AND c.user_id = message.user_id
    AND c.id = message.change_id AND starts_with(c.by, '{"origin":"import"')) THEN 'import'
  WHEN role = 'assistant' THEN 'agent'
  WHEN role IN ('tool', 'function') THEN 'tool'
  ELSE 'user' END;
UPDATE message SET crc = NULL;  -- the digests cover who said it: they are made anew, here and of memories
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
UPDATE memory SET crc = NULL;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
ALTER TABLE message FORCE ROW LEVEL SECURITY;
ALTER TABLE change FORCE ROW LEVEL SECURITY;

ALTER TABLE memory DROP CONSTRAINT memory_origin_check;
ALTER TABLE memory ADD CONSTRAINT memory_origin_check
  CHECK (origin IN ('user', 'agent', 'tool', 'import', 'rules', 'model'));
ALTER TABLE memory ADD COLUMN actor TEXT COLLATE "C";
ALTER TABLE memory ADD COLUMN last_confirmed_at BIGINT;

-- The newest that the user told or a model learnt, and that others brought: neither reads past the other.
CREATE INDEX memory_told ON memory (namespace, user_id, kind, state, tier, number)
  WHERE unrecorded_at IS NULL AND origin IN ('user', 'model');
CREATE INDEX memory_brought ON memory (namespace, user_id, kind, state, tier, number)
  WHERE unrecorded_at IS NULL AND origin IN ('agent', 'tool', 'import', 'rules');

ALTER TABLE token ADD COLUMN actor TEXT COLLATE "C" NOT NULL DEFAULT 'user';
