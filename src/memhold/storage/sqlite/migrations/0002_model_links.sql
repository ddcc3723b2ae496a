-- What is known of each model over all processes: how it fares and the form in which it takes a question. No content.
CREATE TABLE model_link (
  model         TEXT NOT NULL,
  url           TEXT NOT NULL,              -- the server; '' where there is none
  form          TEXT,                       -- NULL: not known
  seen_at       INTEGER NOT NULL,           -- its last call, microseconds since 1970, UTC
  failing_since INTEGER,                    -- NULL: it answered
  cls           TEXT,
  status        INTEGER,
  code          TEXT,
  reason        TEXT NOT NULL,
  said          TEXT NOT NULL,              -- the provider's first words, masked
  unloads       INTEGER NOT NULL,
  PRIMARY KEY (model, url)
) WITHOUT ROWID;
