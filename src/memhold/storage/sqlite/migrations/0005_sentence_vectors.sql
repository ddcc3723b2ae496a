-- A document has a vector for each of its sentences. Those of whole texts stand in another form: what is derived from the
-- texts is made anew.
UPDATE generation SET state = 'retired';
DELETE FROM vector_block;
INSERT INTO due (namespace, user_id, kind, ref, due_at)
SELECT namespace, user_id, 'index', 'vectors', 0 FROM owner WHERE documents > 0
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET due_at = 0;
