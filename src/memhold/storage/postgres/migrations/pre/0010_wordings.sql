-- serves: 9
-- The wordings of a scope's facts: a fact whose wording is known finds its key without reading all of them; by the beginning
-- of the attribute, since an entry of an index is bounded.
CREATE INDEX memory_wording ON memory (namespace, user_id, agent_id, left(attribute, 100))
  WHERE unrecorded_at IS NULL AND hidden_by IS NULL AND kind = 'fact' AND state <> 'merged';
