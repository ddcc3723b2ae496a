-- What a model made before its words were kept gets the sentence of its line as background work.
INSERT INTO due (namespace, user_id, kind, ref, due_at)
SELECT namespace, user_id, 'quotes', 'memories', 0 FROM owner WHERE documents > 0
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET due_at = 0;
