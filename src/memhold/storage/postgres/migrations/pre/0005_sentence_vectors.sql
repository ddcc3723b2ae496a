-- A document has a vector for each of its sentences. Those of whole texts stand in another form: what is derived from the
-- texts is made anew.
UPDATE generation SET state = 'retired';
TRUNCATE vector_block, near_vector, near_scope;
ALTER TABLE near_vector DROP CONSTRAINT near_vector_pkey;
ALTER TABLE near_vector ADD COLUMN part BIGINT NOT NULL;   -- which sentence of the document
ALTER TABLE near_vector ADD PRIMARY KEY (namespace, user_id, generation, number, part);
-- The second wall binds this role too: upkeep may see who there is and make work due.
SELECT set_config('memhold.upkeep', 'on', true);
INSERT INTO due (namespace, user_id, kind, ref, due_at)
SELECT namespace, user_id, 'index', 'vectors', 0 FROM owner WHERE documents > 0
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET due_at = 0;
