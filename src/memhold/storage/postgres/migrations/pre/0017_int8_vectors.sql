-- Vectors are kept in int8, a quarter of their float32. Both forms are read; upkeep brings blocks of before into this one.
-- The second wall binds this role too: upkeep may see who there is and make work due.
SELECT set_config('memhold.upkeep', 'on', true);
INSERT INTO due (namespace, user_id, kind, ref, due_at)
SELECT namespace, user_id, 'index', 'vectors', 0 FROM owner WHERE documents > 0
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET due_at = 0;
