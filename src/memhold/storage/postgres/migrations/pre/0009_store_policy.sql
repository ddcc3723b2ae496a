-- serves: 9
-- What the database says of itself, the secret of its hashes among it, is read at opening and by what looks after the whole
-- store; no unit of work of a scope reaches it.
ALTER TABLE store ENABLE ROW LEVEL SECURITY;
ALTER TABLE store FORCE ROW LEVEL SECURITY;
CREATE POLICY upkeep ON store USING ((SELECT current_setting('memhold.upkeep', true)) = 'on');
