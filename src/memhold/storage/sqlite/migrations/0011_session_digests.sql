-- What an application keeps beside a session is content too, and a flipped bit of a vector is another likeness: their rows
-- carry digests as those of messages do (storage/sql/digests.py). Rows that are there get theirs in the same transaction.
ALTER TABLE session ADD COLUMN crc INTEGER;
ALTER TABLE vector_block ADD COLUMN marks_crc INTEGER;
ALTER TABLE vector_block ADD COLUMN vectors_crc INTEGER;
