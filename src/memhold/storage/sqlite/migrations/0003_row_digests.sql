-- Each row of content carries a digest (storage/sql/digests.py): what does not agree with it is damaged. Rows that are there
-- get theirs in the same transaction.
ALTER TABLE message ADD COLUMN crc INTEGER;
ALTER TABLE memory ADD COLUMN crc INTEGER;
ALTER TABLE change ADD COLUMN crc INTEGER;
ALTER TABLE change ADD COLUMN detail_crc INTEGER;  -- apart, since a forget empties the detail
-- The words index is derived; its digests grow with what is appended.
ALTER TABLE word_block ADD COLUMN records_crc INTEGER;
ALTER TABLE word_block ADD COLUMN entries_crc INTEGER;
