-- The wordings of a scope's facts with their keys: a fact whose wording is known finds its key without reading all of them.
CREATE INDEX memory_wording ON memory (namespace, user_id, agent_id, subject, attribute, number, fact_key)
  WHERE unrecorded_at IS NULL AND hidden_by IS NULL AND kind = 'fact' AND state <> 'merged';
