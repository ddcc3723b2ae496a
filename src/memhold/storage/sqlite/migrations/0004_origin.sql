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

UPDATE message SET crc = NULL;  -- the digests cover who said it: they are made anew, here and of memories

-- A CHECK cannot be changed in place: the table is made anew, with two columns more.
CREATE TABLE memory_new (
  namespace     TEXT NOT NULL,
  user_id       TEXT NOT NULL,
  id            TEXT NOT NULL,
  rev           INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  agent_id      TEXT NOT NULL,
  session_id    TEXT,                       -- the session it came from; NULL where there is none
  kind          TEXT NOT NULL CHECK (kind IN ('fact', 'note', 'summary', 'raw', 'rollup')),
  state         TEXT NOT NULL CHECK (state IN ('active', 'superseded', 'retracted', 'merged', 'expired')),
  tier          TEXT NOT NULL CHECK (tier IN ('mid', 'long')),
  subject       TEXT,
  attribute     TEXT,
  value         TEXT,
  fact_key      TEXT,                       -- the canonical attribute
  operation     TEXT NOT NULL CHECK (operation IN ('set', 'add')),
  text          TEXT NOT NULL,
  digest        BLOB,                       -- keyed hash of kind and canonical content
  topics        TEXT NOT NULL,
  entities      TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  importance    TEXT NOT NULL CHECK (importance IN ('low', 'mid', 'high')),
  pinned        INTEGER NOT NULL CHECK (pinned IN (0, 1)),
  origin        TEXT NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'import', 'rules', 'model')),
  trust         TEXT NOT NULL CHECK (trust IN ('user', 'assistant', 'tool')),
  evidence      INTEGER NOT NULL,
  event_time    INTEGER NOT NULL,
  valid_from    INTEGER NOT NULL,
  valid_to      INTEGER,
  expires_at    INTEGER,
  created_at    INTEGER NOT NULL,
  recorded_at   INTEGER NOT NULL,
  unrecorded_at INTEGER,
  superseded_by TEXT,
  hidden_by     TEXT,                       -- the change that hid it, in every revision
  crc           INTEGER,
  actor         TEXT,                       -- the name of who said it: a client, a model, a format
  last_confirmed_at INTEGER,                -- when a person last said that it is so
  PRIMARY KEY (namespace, user_id, id, rev),
  CHECK (kind <> 'fact' OR (subject IS NOT NULL AND attribute IS NOT NULL AND value IS NOT NULL AND fact_key IS NOT NULL))
);
INSERT INTO memory_new SELECT
  namespace, user_id, id, rev, number, agent_id, session_id, kind, state, tier, subject, attribute, value, fact_key, operation, text, digest,
  topics, entities, metadata, importance, pinned, origin, trust, evidence, event_time, valid_from, valid_to, expires_at, created_at, recorded_at, unrecorded_at, superseded_by, hidden_by,
  NULL, NULL, NULL FROM memory;
DROP TABLE memory;
ALTER TABLE memory_new RENAME TO memory;
CREATE UNIQUE INDEX memory_number ON memory (namespace, user_id, number) WHERE unrecorded_at IS NULL;
CREATE INDEX memory_newest ON memory (namespace, user_id, kind, state, tier, number) WHERE unrecorded_at IS NULL;
CREATE INDEX memory_fact ON memory (namespace, user_id, subject, fact_key) WHERE unrecorded_at IS NULL AND kind = 'fact';
CREATE INDEX memory_digest ON memory (namespace, user_id, digest) WHERE unrecorded_at IS NULL AND state = 'active';
CREATE INDEX memory_hidden ON memory (namespace, user_id) WHERE hidden_by IS NOT NULL;

-- The newest that the user told or a model learnt, and that others brought: neither reads past the other.
CREATE INDEX memory_told ON memory (namespace, user_id, kind, state, tier, number)
  WHERE unrecorded_at IS NULL AND origin IN ('user', 'model');
CREATE INDEX memory_brought ON memory (namespace, user_id, kind, state, tier, number)
  WHERE unrecorded_at IS NULL AND origin IN ('agent', 'tool', 'import', 'rules');

ALTER TABLE token ADD COLUMN actor TEXT NOT NULL DEFAULT 'user';
