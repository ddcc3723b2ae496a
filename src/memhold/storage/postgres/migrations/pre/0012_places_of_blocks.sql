-- A block of words or vectors that stands at another place would be of other documents: the place is added to one of its
-- digests (storage/sql/digests.py). What was damaged stays so.
ALTER TABLE word_block NO FORCE ROW LEVEL SECURITY;
UPDATE word_block SET records_crc = records_crc + first;
ALTER TABLE word_block FORCE ROW LEVEL SECURITY;
ALTER TABLE vector_block NO FORCE ROW LEVEL SECURITY;
UPDATE vector_block SET marks_crc = marks_crc + first;
ALTER TABLE vector_block FORCE ROW LEVEL SECURITY;
