-- What a model made before its words were kept gets the sentence of its line as background work.
-- The second wall binds this role too: upkeep may see who there is and make work due.
SELECT set_config('memhold.upkeep', 'on', true);
INSERT INTO due (namespace, user_id, kind, ref, due_at)
SELECT namespace, user_id, 'quotes', 'memories', 0 FROM owner WHERE documents > 0
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET due_at = 0;
