-- What is known of each model over all processes: how it fares and the form in which it takes a question. No content.
CREATE TABLE model_link (
  model         TEXT COLLATE "C" NOT NULL,
  url           TEXT COLLATE "C" NOT NULL,              -- the server; '' where there is none
  form          TEXT COLLATE "C",                       -- NULL: not known
  seen_at       BIGINT NOT NULL,           -- its last call, microseconds since 1970, UTC
  failing_since BIGINT,                    -- NULL: it answered
  cls           TEXT COLLATE "C",
  status        BIGINT,
  code          TEXT COLLATE "C",
  reason        TEXT COLLATE "C" NOT NULL,
  said          TEXT COLLATE "C" NOT NULL,              -- the provider's first words, masked
  unloads       BIGINT NOT NULL,
  PRIMARY KEY (model, url)
);
