-- A block of words or vectors that stands at another place would be of other documents: the place is added to one of its
-- digests (storage/sql/digests.py). What was damaged stays so.
UPDATE word_block SET records_crc = records_crc + first;
UPDATE vector_block SET marks_crc = marks_crc + first;
