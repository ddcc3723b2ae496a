-- The journal, what is derived from it, the audit trail, due work and the words index.
-- Times are microseconds since 1970 (UTC). An absent user, agent or session is ''. Each key begins with namespace and
-- user_id, so that no statement can reach a row without naming whose it is.

CREATE TABLE store (
  name  TEXT PRIMARY KEY,          -- 'id', 'secret', 'created_at', 'clock' (last recorded time), 'lease' (last token)
  value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  applied_at INTEGER NOT NULL
);

-- Counters, one row a namespace and one a scope: commit order is sequence order.
CREATE TABLE namespace (
  namespace  TEXT PRIMARY KEY,
  change_seq INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE owner (
  namespace   TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  documents   INTEGER NOT NULL DEFAULT 0,   -- document numbers taken so far
  sessions    INTEGER NOT NULL DEFAULT 0,   -- session numbers taken so far
  index_rev   INTEGER NOT NULL DEFAULT 0,   -- counts the changes of the words index
  vector_rev  INTEGER NOT NULL DEFAULT 0,   -- counts the changes of the vectors
  PRIMARY KEY (namespace, user_id)
) WITHOUT ROWID;

CREATE TABLE agent (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  agent_id  TEXT NOT NULL,
  number    INTEGER NOT NULL,               -- what stands for it in the words index
  PRIMARY KEY (namespace, user_id, agent_id)
) WITHOUT ROWID;

CREATE TABLE session (
  namespace  TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  session_id TEXT NOT NULL,                 -- the caller's name; '' is the unnamed session
  id         TEXT NOT NULL,
  number     INTEGER NOT NULL,
  last_seq   INTEGER NOT NULL,
  cursor     INTEGER NOT NULL,              -- messages up to here have been dealt with
  window_start INTEGER NOT NULL DEFAULT 0,  -- messages up to here have left the prompt
  asked      INTEGER NOT NULL DEFAULT 0,    -- messages up to here are to be dealt with now
  pending_tokens INTEGER NOT NULL DEFAULT 0, -- estimate for the messages past the cursor
  torn       INTEGER NOT NULL DEFAULT 0 CHECK (torn IN (0, 1)), -- forgetting took what held some up to the cursor
  rev        INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  ended_at   INTEGER,
  PRIMARY KEY (namespace, user_id, session_id),
  UNIQUE (namespace, user_id, id),
  CHECK (0 <= cursor AND cursor <= last_seq AND window_start <= last_seq AND asked <= last_seq)
) WITHOUT ROWID;

CREATE TABLE message (
  namespace   TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  number      INTEGER NOT NULL,             -- document number in the scope's indexes
  id          TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  role        TEXT NOT NULL,
  shape       TEXT NOT NULL CHECK (shape IN ('openai', 'anthropic')),
  body        TEXT NOT NULL,                -- the message as it was given, JSON
  text        TEXT NOT NULL,                -- what is read, indexed and shown
  embed       INTEGER NOT NULL CHECK (embed IN (0, 1)),
  metadata    TEXT NOT NULL,
  event_time  INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  change_id   TEXT NOT NULL,                -- the change that appended it
  hidden_by   TEXT,                         -- the change that hid it (a forget that can be undone)
  quotes      TEXT NOT NULL DEFAULT '[]',   -- JSON: stretches of text that are recalled text [[start, end, [id, ...]], ...]
  PRIMARY KEY (namespace, user_id, number),
  UNIQUE (namespace, user_id, session_id, seq),
  UNIQUE (namespace, user_id, id),
  FOREIGN KEY (namespace, user_id, session_id) REFERENCES session (namespace, user_id, session_id)
);

CREATE INDEX message_hidden ON message (namespace, user_id) WHERE hidden_by IS NOT NULL;

-- Which message quotes what: a forget erases the quotations of what it forgets.
CREATE TABLE message_quote (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  item_id   TEXT NOT NULL,
  number    INTEGER NOT NULL,
  PRIMARY KEY (namespace, user_id, item_id, number)
) WITHOUT ROWID;
CREATE INDEX message_quote_of ON message_quote (namespace, user_id, number);

-- One row a revision; the current one has no unrecorded_at. Content (kind, subject, attribute, value, text) is the same
-- in every revision of an id.
CREATE TABLE memory (
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
  origin        TEXT NOT NULL CHECK (origin IN ('user', 'model', 'rules', 'import')),
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
  PRIMARY KEY (namespace, user_id, id, rev),
  CHECK (kind <> 'fact' OR (subject IS NOT NULL AND attribute IS NOT NULL AND value IS NOT NULL AND fact_key IS NOT NULL))
);
CREATE UNIQUE INDEX memory_number ON memory (namespace, user_id, number) WHERE unrecorded_at IS NULL;
CREATE INDEX memory_newest ON memory (namespace, user_id, kind, state, tier, number) WHERE unrecorded_at IS NULL;
CREATE INDEX memory_fact ON memory (namespace, user_id, subject, fact_key) WHERE unrecorded_at IS NULL AND kind = 'fact';
CREATE INDEX memory_digest ON memory (namespace, user_id, digest) WHERE unrecorded_at IS NULL AND state = 'active';

CREATE INDEX memory_hidden ON memory (namespace, user_id) WHERE hidden_by IS NOT NULL;

CREATE TABLE memory_source (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  since     INTEGER NOT NULL,               -- the revision from which on these are the sources
  position  INTEGER NOT NULL,               -- -1: from here on there are none
  source_id TEXT NOT NULL,
  PRIMARY KEY (namespace, user_id, memory_id, since, position)
) WITHOUT ROWID;
CREATE INDEX memory_source_of ON memory_source (namespace, user_id, source_id, memory_id);

-- What speaks of a fact: statements of it, recalls that returned it; without content.
CREATE TABLE evidence (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  place     INTEGER NOT NULL,               -- in the order it came
  turn      TEXT NOT NULL,
  at        INTEGER NOT NULL,
  operation TEXT NOT NULL CHECK (operation IN ('set', 'add', 'remove', 'asked', 'until')),
  change_id TEXT,
  PRIMARY KEY (namespace, user_id, memory_id, place),
  UNIQUE (namespace, user_id, memory_id, turn, at, operation)
) WITHOUT ROWID;

-- What a person should settle; it names memories and a rule, and holds no content.
CREATE TABLE suspicion (
  namespace  TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  id         TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('key', 'contradiction')),
  memory_id  TEXT NOT NULL,
  other_id   TEXT NOT NULL,
  rule       TEXT NOT NULL,
  at         INTEGER NOT NULL,
  change_id  TEXT NOT NULL,
  settled    TEXT CHECK (settled IN ('same', 'different')),
  settled_by TEXT,
  looked     TEXT CHECK (looked IN ('likeness', 'decided')),
  PRIMARY KEY (namespace, user_id, id)
) WITHOUT ROWID;

-- Vectors of keys alone, derived: by a keyed hash of the key, of one embedding generation. Erasing a memory empties it.
CREATE TABLE key_vector (
  namespace   TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  digest      BLOB NOT NULL,
  fingerprint TEXT NOT NULL,
  vector      BLOB NOT NULL,
  PRIMARY KEY (namespace, user_id, digest)
) WITHOUT ROWID;

CREATE TABLE change (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  seq       INTEGER NOT NULL,               -- counts within the namespace
  id        TEXT NOT NULL,
  verb      TEXT NOT NULL,
  reason    TEXT NOT NULL,
  by        TEXT NOT NULL,                  -- JSON: origin, name, version
  at        INTEGER NOT NULL,
  sources   TEXT NOT NULL,                  -- JSON: ids
  spans     TEXT NOT NULL,                  -- JSON: stretches of the journal
  detail    TEXT NOT NULL,                  -- JSON; emptied when something it speaks of is forgotten
  undoes    TEXT,
  undone_by TEXT,
  PRIMARY KEY (namespace, user_id, seq),
  UNIQUE (namespace, user_id, id)
) WITHOUT ROWID;

CREATE TABLE change_effect (
  namespace  TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  change_id  TEXT NOT NULL,
  position   INTEGER NOT NULL,
  memory_id  TEXT NOT NULL,
  rev_before INTEGER NOT NULL,
  rev_after  INTEGER NOT NULL,
  PRIMARY KEY (namespace, user_id, change_id, position),
  FOREIGN KEY (namespace, user_id, change_id) REFERENCES change (namespace, user_id, id)
) WITHOUT ROWID;
CREATE INDEX change_effect_of ON change_effect (namespace, user_id, memory_id);

CREATE TABLE idempotency (
  namespace   TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  verb        TEXT NOT NULL,
  key_digest  BLOB NOT NULL,                -- keyed hash: the key itself may be content
  fingerprint BLOB NOT NULL,
  receipt     TEXT NOT NULL,
  expires_at  INTEGER,                      -- NULL: kept for ever (imports)
  PRIMARY KEY (namespace, user_id, verb, key_digest)
) WITHOUT ROWID;

CREATE TABLE tombstone (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  id        TEXT NOT NULL,
  at        INTEGER NOT NULL,
  change_id TEXT NOT NULL,
  digest    BLOB,                           -- blocks learning the same content again
  PRIMARY KEY (namespace, user_id, id)
) WITHOUT ROWID;
CREATE INDEX tombstone_digest ON tombstone (namespace, user_id, digest) WHERE digest IS NOT NULL;

-- How far each kind of upkeep has read the scope's changes.
CREATE TABLE progress (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  name      TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (namespace, user_id, name)
) WITHOUT ROWID;

-- What state implies must be done: written with the state it mirrors, rebuilt by doctor, without content.
CREATE TABLE due (
  namespace    TEXT NOT NULL,
  user_id      TEXT NOT NULL,
  kind         TEXT NOT NULL,
  ref          TEXT NOT NULL,
  due_at       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  last_error   TEXT,
  token        INTEGER NOT NULL DEFAULT 0,
  holder       TEXT,
  leased_until INTEGER,
  again_at     INTEGER,                     -- made due again while it was leased
  PRIMARY KEY (namespace, user_id, kind, ref)
) WITHOUT ROWID;
CREATE INDEX due_soonest ON due (due_at);
CREATE INDEX due_of_scope ON due (namespace, user_id, kind, due_at);

-- The words index: packed blocks of consecutive documents (see packed.py and docs/decisions/0002), derived from the texts.
CREATE TABLE word_block (
  namespace TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  first     INTEGER NOT NULL,               -- the first document number of the block
  records   BLOB NOT NULL,
  entries   BLOB NOT NULL,
  PRIMARY KEY (namespace, user_id, first)
);

-- Which embedding the store's vectors are of. One generation is current, one may be building beside it.
CREATE TABLE generation (
  number      INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  dimension   INTEGER NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('building', 'current', 'retired')),
  made_at     INTEGER NOT NULL
);
CREATE UNIQUE INDEX generation_state ON generation (state) WHERE state <> 'retired';

-- Vectors, derived from the texts: blocks of 128 consecutive documents (see vectors.py). `marks` stands before
-- `vectors`, so that reading marks alone reads no vectors.
CREATE TABLE vector_block (
  namespace  TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  generation INTEGER NOT NULL,
  first      INTEGER NOT NULL,
  rev        INTEGER NOT NULL,              -- the scope's vector_rev when it was written
  marks      BLOB NOT NULL,
  vectors    BLOB NOT NULL,
  PRIMARY KEY (namespace, user_id, generation, first)
);

-- Who may ask a server. A token is found by its id, before it is known whose it is; of its secret only a keyed hash.
CREATE TABLE token (
  id          TEXT PRIMARY KEY,
  namespace   TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  rights      TEXT NOT NULL,                -- separated by commas
  label       TEXT NOT NULL,
  digest      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  revoked_at  INTEGER,
  used_on     TEXT                          -- the day of its last use, UTC
) WITHOUT ROWID;

-- What models were used for: counts without content, over all scopes; one f_ column a class of failure.
CREATE TABLE model_usage (
  day           TEXT NOT NULL,              -- UTC
  model         TEXT NOT NULL,
  purpose       TEXT NOT NULL,
  calls         INTEGER NOT NULL,
  answered      INTEGER NOT NULL,
  retries       INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  milliseconds  INTEGER NOT NULL,
  nanousd       INTEGER NOT NULL,
  unpriced      INTEGER NOT NULL,
  f_retry       INTEGER NOT NULL,
  f_resample    INTEGER NOT NULL,
  f_next        INTEGER NOT NULL,
  f_park        INTEGER NOT NULL,
  f_shorten     INTEGER NOT NULL,
  f_poison      INTEGER NOT NULL,
  f_auth        INTEGER NOT NULL,
  PRIMARY KEY (day, model, purpose)
) WITHOUT ROWID;
