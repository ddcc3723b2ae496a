-- serves: 1
-- The journal, what is derived from it, the audit trail, due work and the words index.
-- Times are microseconds since 1970 (UTC). An absent user, agent or session is ''. Each key begins with namespace and
-- user_id, so that no statement can reach a row without naming whose it is, and so that tables divide by namespace:
-- `/* partition */` becomes PARTITION BY HASH (namespace) where a store is made with partitions.
-- Text sorts by code point everywhere (COLLATE "C"), as it does on SQLite.

CREATE TABLE store (
  name  TEXT COLLATE "C" PRIMARY KEY,       -- 'id', 'secret' (hexadecimal), 'created_at', 'partitions'
  value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE migration (
  number     BIGINT NOT NULL,
  stage      TEXT COLLATE "C" NOT NULL CHECK (stage IN ('pre', 'post')),
  name       TEXT COLLATE "C" NOT NULL,
  sha256     TEXT COLLATE "C" NOT NULL,
  serves     BIGINT NOT NULL,               -- the oldest schema whose code runs on it
  applied_at BIGINT NOT NULL,
  PRIMARY KEY (number, stage)
);

-- The last recorded time: the greatest value. A writer moves the row of its own backend, so that none waits for another.
CREATE TABLE clock (
  stripe BIGINT PRIMARY KEY,
  value  BIGINT NOT NULL
) WITH (fillfactor = 10);
INSERT INTO clock SELECT stripe, 0 FROM generate_series(0, 63) AS stripe;

-- Lease tokens grow over the whole store.
CREATE SEQUENCE lease_token;

-- One row a namespace: its counter of changes, which is also what its writers lock, one after the other. `marks` holds
-- the marks of its last sixteen transactions, newest first, by which a COMMIT without an answer is settled.
CREATE TABLE namespace (
  namespace  TEXT COLLATE "C" PRIMARY KEY,
  change_seq BIGINT NOT NULL,
  marks      BYTEA NOT NULL DEFAULT ''
) /* partition */;

CREATE TABLE owner (
  namespace   TEXT COLLATE "C" NOT NULL,
  user_id     TEXT COLLATE "C" NOT NULL,
  documents   BIGINT NOT NULL DEFAULT 0,   -- document numbers taken so far
  sessions    BIGINT NOT NULL DEFAULT 0,   -- session numbers taken so far
  index_rev   BIGINT NOT NULL DEFAULT 0,   -- counts the changes of the words index
  vector_rev  BIGINT NOT NULL DEFAULT 0,   -- counts the changes of the vectors
  PRIMARY KEY (namespace, user_id)
) /* partition */;

CREATE TABLE agent (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  agent_id  TEXT COLLATE "C" NOT NULL,
  number    BIGINT NOT NULL,               -- what stands for it in the words index
  PRIMARY KEY (namespace, user_id, agent_id)
) /* partition */;

CREATE TABLE session (
  namespace  TEXT COLLATE "C" NOT NULL,
  user_id    TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,                 -- the caller's name; '' is the unnamed session
  id         TEXT COLLATE "C" NOT NULL,
  number     BIGINT NOT NULL,
  last_seq   BIGINT NOT NULL,
  cursor     BIGINT NOT NULL,              -- messages up to here have been dealt with
  window_start BIGINT NOT NULL DEFAULT 0,  -- messages up to here have left the prompt
  asked      BIGINT NOT NULL DEFAULT 0,    -- messages up to here are to be dealt with now
  pending_tokens BIGINT NOT NULL DEFAULT 0, -- estimate for the messages past the cursor
  torn       BIGINT NOT NULL DEFAULT 0 CHECK (torn IN (0, 1)), -- forgetting took what held some up to the cursor
  rev        BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_at    BIGINT NOT NULL,
  ended_at   BIGINT,
  PRIMARY KEY (namespace, user_id, session_id),
  UNIQUE (namespace, user_id, id),
  CHECK (0 <= cursor AND cursor <= last_seq AND window_start <= last_seq AND asked <= last_seq)
) /* partition */;

CREATE TABLE message (
  namespace   TEXT COLLATE "C" NOT NULL,
  user_id     TEXT COLLATE "C" NOT NULL,
  number      BIGINT NOT NULL,             -- document number in the scope's indexes
  id          TEXT COLLATE "C" NOT NULL,
  session_id  TEXT COLLATE "C" NOT NULL,
  agent_id    TEXT COLLATE "C" NOT NULL,
  seq         BIGINT NOT NULL,
  role        TEXT COLLATE "C" NOT NULL,
  shape       TEXT COLLATE "C" NOT NULL CHECK (shape IN ('openai', 'anthropic')),
  body        TEXT COLLATE "C" NOT NULL,                -- the message as it was given, JSON
  text        TEXT COLLATE "C" NOT NULL,                -- what is read, indexed and shown
  embed       BIGINT NOT NULL CHECK (embed IN (0, 1)),
  metadata    TEXT COLLATE "C" NOT NULL,
  event_time  BIGINT NOT NULL,
  recorded_at BIGINT NOT NULL,
  change_id   TEXT COLLATE "C" NOT NULL,                -- the change that appended it
  hidden_by   TEXT COLLATE "C",                         -- the change that hid it (a forget that can be undone)
  quotes      TEXT COLLATE "C" NOT NULL DEFAULT '[]',   -- JSON: stretches of text that are recalled text [[start, end, [id, ...]], ...]
  PRIMARY KEY (namespace, user_id, number),
  UNIQUE (namespace, user_id, session_id, seq),
  UNIQUE (namespace, user_id, id),
  FOREIGN KEY (namespace, user_id, session_id) REFERENCES session (namespace, user_id, session_id)
) /* partition */;

CREATE INDEX message_hidden ON message (namespace, user_id) WHERE hidden_by IS NOT NULL;

-- Which message quotes what: a forget erases the quotations of what it forgets.
CREATE TABLE message_quote (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  item_id   TEXT COLLATE "C" NOT NULL,
  number    BIGINT NOT NULL,
  PRIMARY KEY (namespace, user_id, item_id, number)
) /* partition */;
CREATE INDEX message_quote_of ON message_quote (namespace, user_id, number);

-- One row a revision; the current one has no unrecorded_at. Content (kind, subject, attribute, value, text) is the same
-- in every revision of an id.
CREATE TABLE memory (
  namespace     TEXT COLLATE "C" NOT NULL,
  user_id       TEXT COLLATE "C" NOT NULL,
  id            TEXT COLLATE "C" NOT NULL,
  rev           BIGINT NOT NULL,
  number        BIGINT NOT NULL,
  agent_id      TEXT COLLATE "C" NOT NULL,
  session_id    TEXT COLLATE "C",                       -- the session it came from; NULL where there is none
  kind          TEXT COLLATE "C" NOT NULL CHECK (kind IN ('fact', 'note', 'summary', 'raw', 'rollup')),
  state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('active', 'superseded', 'retracted', 'merged', 'expired')),
  tier          TEXT COLLATE "C" NOT NULL CHECK (tier IN ('mid', 'long')),
  subject       TEXT COLLATE "C",
  attribute     TEXT COLLATE "C",
  value         TEXT COLLATE "C",
  fact_key      TEXT COLLATE "C",                       -- the canonical attribute
  operation     TEXT COLLATE "C" NOT NULL CHECK (operation IN ('set', 'add')),
  text          TEXT COLLATE "C" NOT NULL,
  digest        BYTEA,                       -- keyed hash of kind and canonical content
  topics        TEXT COLLATE "C" NOT NULL,
  entities      TEXT COLLATE "C" NOT NULL,
  metadata      TEXT COLLATE "C" NOT NULL,
  importance    TEXT COLLATE "C" NOT NULL CHECK (importance IN ('low', 'mid', 'high')),
  pinned        BIGINT NOT NULL CHECK (pinned IN (0, 1)),
  origin        TEXT COLLATE "C" NOT NULL CHECK (origin IN ('user', 'model', 'rules', 'import')),
  trust         TEXT COLLATE "C" NOT NULL CHECK (trust IN ('user', 'assistant', 'tool')),
  evidence      BIGINT NOT NULL,
  event_time    BIGINT NOT NULL,
  valid_from    BIGINT NOT NULL,
  valid_to      BIGINT,
  expires_at    BIGINT,
  created_at    BIGINT NOT NULL,
  recorded_at   BIGINT NOT NULL,
  unrecorded_at BIGINT,
  superseded_by TEXT COLLATE "C",
  hidden_by     TEXT COLLATE "C",                       -- the change that hid it, in every revision
  PRIMARY KEY (namespace, user_id, id, rev),
  CHECK (kind <> 'fact' OR (subject IS NOT NULL AND attribute IS NOT NULL AND value IS NOT NULL AND fact_key IS NOT NULL))
) /* partition */;
CREATE UNIQUE INDEX memory_number ON memory (namespace, user_id, number) WHERE unrecorded_at IS NULL;
CREATE INDEX memory_newest ON memory (namespace, user_id, kind, state, tier, number) WHERE unrecorded_at IS NULL;
CREATE INDEX memory_fact ON memory (namespace, user_id, subject, fact_key) WHERE unrecorded_at IS NULL AND kind = 'fact';
CREATE INDEX memory_digest ON memory (namespace, user_id, digest) WHERE unrecorded_at IS NULL AND state = 'active';

CREATE INDEX memory_hidden ON memory (namespace, user_id) WHERE hidden_by IS NOT NULL;

CREATE TABLE memory_source (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  memory_id TEXT COLLATE "C" NOT NULL,
  since     BIGINT NOT NULL,               -- the revision from which on these are the sources
  position  BIGINT NOT NULL,               -- -1: from here on there are none
  source_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, user_id, memory_id, since, position)
) /* partition */;
CREATE INDEX memory_source_of ON memory_source (namespace, user_id, source_id, memory_id);

-- What speaks of a fact: statements of it, recalls that returned it; without content.
CREATE TABLE evidence (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  memory_id TEXT COLLATE "C" NOT NULL,
  place     BIGINT NOT NULL,               -- in the order it came
  turn      TEXT COLLATE "C" NOT NULL,
  at        BIGINT NOT NULL,
  operation TEXT COLLATE "C" NOT NULL CHECK (operation IN ('set', 'add', 'remove', 'asked', 'until')),
  change_id TEXT COLLATE "C",
  PRIMARY KEY (namespace, user_id, memory_id, place),
  UNIQUE (namespace, user_id, memory_id, turn, at, operation)
) /* partition */;

-- What a person should settle; it names memories and a rule, and holds no content.
CREATE TABLE suspicion (
  namespace  TEXT COLLATE "C" NOT NULL,
  user_id    TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('key', 'contradiction')),
  memory_id  TEXT COLLATE "C" NOT NULL,
  other_id   TEXT COLLATE "C" NOT NULL,
  rule       TEXT COLLATE "C" NOT NULL,
  at         BIGINT NOT NULL,
  change_id  TEXT COLLATE "C" NOT NULL,
  settled    TEXT COLLATE "C" CHECK (settled IN ('same', 'different')),
  settled_by TEXT COLLATE "C",
  looked     TEXT COLLATE "C" CHECK (looked IN ('likeness', 'decided')),
  PRIMARY KEY (namespace, user_id, id)
) /* partition */;

-- Vectors of keys alone, derived: by a keyed hash of the key, of one embedding generation. Erasing a memory empties it.
CREATE TABLE key_vector (
  namespace   TEXT COLLATE "C" NOT NULL,
  user_id     TEXT COLLATE "C" NOT NULL,
  digest      BYTEA NOT NULL,
  fingerprint TEXT COLLATE "C" NOT NULL,
  vector      BYTEA NOT NULL,
  PRIMARY KEY (namespace, user_id, digest)
) /* partition */;

CREATE TABLE change (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  seq       BIGINT NOT NULL,               -- counts within the namespace
  id        TEXT COLLATE "C" NOT NULL,
  verb      TEXT COLLATE "C" NOT NULL,
  reason    TEXT COLLATE "C" NOT NULL,
  by        TEXT COLLATE "C" NOT NULL,                  -- JSON: origin, name, version
  at        BIGINT NOT NULL,
  sources   TEXT COLLATE "C" NOT NULL,                  -- JSON: ids
  spans     TEXT COLLATE "C" NOT NULL,                  -- JSON: stretches of the journal
  detail    TEXT COLLATE "C" NOT NULL,                  -- JSON; emptied when something it speaks of is forgotten
  undoes    TEXT COLLATE "C",
  undone_by TEXT COLLATE "C",
  PRIMARY KEY (namespace, user_id, seq),
  UNIQUE (namespace, user_id, id)
) /* partition */;

CREATE TABLE change_effect (
  namespace  TEXT COLLATE "C" NOT NULL,
  user_id    TEXT COLLATE "C" NOT NULL,
  change_id  TEXT COLLATE "C" NOT NULL,
  position   BIGINT NOT NULL,
  memory_id  TEXT COLLATE "C" NOT NULL,
  rev_before BIGINT NOT NULL,
  rev_after  BIGINT NOT NULL,
  PRIMARY KEY (namespace, user_id, change_id, position),
  FOREIGN KEY (namespace, user_id, change_id) REFERENCES change (namespace, user_id, id)
) /* partition */;
CREATE INDEX change_effect_of ON change_effect (namespace, user_id, memory_id);

CREATE TABLE idempotency (
  namespace   TEXT COLLATE "C" NOT NULL,
  user_id     TEXT COLLATE "C" NOT NULL,
  verb        TEXT COLLATE "C" NOT NULL,
  key_digest  BYTEA NOT NULL,                -- keyed hash: the key itself may be content
  fingerprint BYTEA NOT NULL,
  receipt     TEXT COLLATE "C" NOT NULL,
  expires_at  BIGINT,                      -- NULL: kept for ever (imports)
  PRIMARY KEY (namespace, user_id, verb, key_digest)
) /* partition */;

CREATE TABLE tombstone (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  id        TEXT COLLATE "C" NOT NULL,
  at        BIGINT NOT NULL,
  change_id TEXT COLLATE "C" NOT NULL,
  digest    BYTEA,                           -- blocks learning the same content again
  PRIMARY KEY (namespace, user_id, id)
) /* partition */;
CREATE INDEX tombstone_digest ON tombstone (namespace, user_id, digest) WHERE digest IS NOT NULL;

-- How far each kind of upkeep has read the scope's changes.
CREATE TABLE progress (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  name      TEXT COLLATE "C" NOT NULL,
  seq       BIGINT NOT NULL,
  PRIMARY KEY (namespace, user_id, name)
) /* partition */;

-- What state implies must be done: written with the state it mirrors, rebuilt by doctor, without content.
CREATE TABLE due (
  namespace    TEXT COLLATE "C" NOT NULL,
  user_id      TEXT COLLATE "C" NOT NULL,
  kind         TEXT COLLATE "C" NOT NULL,
  ref          TEXT COLLATE "C" NOT NULL,
  due_at       BIGINT NOT NULL,
  attempts     BIGINT NOT NULL DEFAULT 0,
  last_error   TEXT COLLATE "C",
  token        BIGINT NOT NULL DEFAULT 0,
  holder       TEXT COLLATE "C",
  leased_until BIGINT,
  again_at     BIGINT,                     -- made due again while it was leased
  PRIMARY KEY (namespace, user_id, kind, ref)
) /* partition */;
CREATE INDEX due_soonest ON due (kind, due_at) WHERE leased_until IS NULL;
CREATE INDEX due_of_scope ON due (namespace, user_id, kind, due_at);
CREATE INDEX due_leased ON due (leased_until) WHERE leased_until IS NOT NULL;

-- The words index: packed blocks of consecutive documents (see packed.py and docs/decisions/0002), derived from the texts.
CREATE TABLE word_block (
  namespace TEXT COLLATE "C" NOT NULL,
  user_id   TEXT COLLATE "C" NOT NULL,
  first     BIGINT NOT NULL,               -- the first document number of the block
  records   BYTEA NOT NULL,
  entries   BYTEA NOT NULL,
  PRIMARY KEY (namespace, user_id, first)
) /* partition */;

-- Which embedding the store's vectors are of. One generation is current, one may be building beside it.
CREATE TABLE generation (
  number      BIGINT PRIMARY KEY,
  fingerprint TEXT COLLATE "C" NOT NULL,
  dimension   BIGINT NOT NULL,
  state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('building', 'current', 'retired')),
  made_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX generation_state ON generation (state) WHERE state <> 'retired';

-- Vectors, derived from the texts: blocks of 128 consecutive documents (see vectors.py). `marks` stands before
-- `vectors`, so that reading marks alone reads no vectors.
CREATE TABLE vector_block (
  namespace  TEXT COLLATE "C" NOT NULL,
  user_id    TEXT COLLATE "C" NOT NULL,
  generation BIGINT NOT NULL,
  first      BIGINT NOT NULL,
  rev        BIGINT NOT NULL,              -- the scope's vector_rev when it was written
  marks      BYTEA NOT NULL,
  vectors    BYTEA NOT NULL,
  PRIMARY KEY (namespace, user_id, generation, first)
) /* partition */;

-- Vectors of large scopes a second time, a row each, for an index of nearest neighbours (HNSW of pgvector), which upkeep
-- makes a generation at a time. Documents before `upto` have their row; `ready` once the index serves the scope.
CREATE TABLE near_scope (
  namespace  TEXT COLLATE "C" NOT NULL,
  user_id    TEXT COLLATE "C" NOT NULL,
  generation BIGINT NOT NULL,
  upto       BIGINT NOT NULL,
  ready      BIGINT NOT NULL CHECK (ready IN (0, 1)),
  PRIMARY KEY (namespace, user_id, generation)
) /* partition */;
CREATE TABLE near_vector (
  namespace  TEXT COLLATE "C" NOT NULL,
  user_id    TEXT COLLATE "C" NOT NULL,
  generation BIGINT NOT NULL,
  number     BIGINT NOT NULL,
  vector     REAL[] NOT NULL,
  PRIMARY KEY (namespace, user_id, generation, number)
) /* partition */;

-- Who may ask a server. A token is found by its id, before it is known whose it is; of its secret only a keyed hash.
CREATE TABLE token (
  id          TEXT COLLATE "C" PRIMARY KEY,
  namespace   TEXT COLLATE "C" NOT NULL,
  user_id     TEXT COLLATE "C" NOT NULL,
  agent_id    TEXT COLLATE "C" NOT NULL,
  rights      TEXT COLLATE "C" NOT NULL,                -- separated by commas
  label       TEXT COLLATE "C" NOT NULL,
  digest      BYTEA NOT NULL,
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT,
  revoked_at  BIGINT,
  used_on     TEXT COLLATE "C"                          -- the day of its last use, UTC
);

-- What models were used for: counts without content, over all scopes; one f_ column a class of failure.
CREATE TABLE model_usage (
  day           TEXT COLLATE "C" NOT NULL,              -- UTC
  model         TEXT COLLATE "C" NOT NULL,
  purpose       TEXT COLLATE "C" NOT NULL,
  calls         BIGINT NOT NULL,
  answered      BIGINT NOT NULL,
  retries       BIGINT NOT NULL,
  input_tokens  BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  milliseconds  BIGINT NOT NULL,
  nanousd       BIGINT NOT NULL,
  unpriced      BIGINT NOT NULL,
  f_retry       BIGINT NOT NULL,
  f_resample    BIGINT NOT NULL,
  f_next        BIGINT NOT NULL,
  f_park        BIGINT NOT NULL,
  f_shorten     BIGINT NOT NULL,
  f_poison      BIGINT NOT NULL,
  f_auth        BIGINT NOT NULL,
  PRIMARY KEY (day, model, purpose)
);

-- Packed bytes do not compress; trying costs more than the insert.
ALTER TABLE word_block ALTER COLUMN records SET STORAGE EXTERNAL, ALTER COLUMN entries SET STORAGE EXTERNAL;
ALTER TABLE vector_block ALTER COLUMN vectors SET STORAGE EXTERNAL;
ALTER TABLE near_vector ALTER COLUMN vector SET STORAGE EXTERNAL;

-- The second wall: whatever a statement forgets, a transaction reaches the rows of the scope that it entered, and no
-- others. FORCE binds the owner of the tables too; only a superuser or a role with BYPASSRLS is not bound (doctor says so).
DO $$
DECLARE name TEXT;
BEGIN
  FOREACH name IN ARRAY ARRAY['owner', 'agent', 'session', 'message', 'message_quote', 'memory', 'memory_source', 'evidence',
    'suspicion', 'change', 'change_effect', 'idempotency', 'tombstone', 'due', 'word_block', 'vector_block', 'key_vector', 'progress',
    'near_scope', 'near_vector'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY entered ON %I USING ('
      || 'namespace = (SELECT current_setting(''memhold.namespace'', true))'
      || ' AND user_id = (SELECT current_setting(''memhold.user_id'', true)))', name);
  END LOOP;
END $$;
ALTER TABLE namespace ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespace FORCE ROW LEVEL SECURITY;
CREATE POLICY entered ON namespace USING (namespace = (SELECT current_setting('memhold.namespace', true)));
-- Upkeep sees due work and the names of scopes, never content; it enters one scope a transaction to do the work.
ALTER TABLE token ENABLE ROW LEVEL SECURITY;
ALTER TABLE token FORCE ROW LEVEL SECURITY;
CREATE POLICY upkeep ON token USING ((SELECT current_setting('memhold.upkeep', true)) = 'on');
CREATE POLICY upkeep ON due USING ((SELECT current_setting('memhold.upkeep', true)) = 'on');
CREATE POLICY upkeep ON owner FOR SELECT USING ((SELECT current_setting('memhold.upkeep', true)) = 'on');
