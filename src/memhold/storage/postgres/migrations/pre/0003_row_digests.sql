-- Each row of content carries a digest (storage/sql/digests.py): what does not agree with it is damaged. Rows that are there
-- get theirs in the same transaction, whatever their scope: so the owner of the tables is not bound until then.
ALTER TABLE message ADD COLUMN crc BIGINT;
ALTER TABLE memory ADD COLUMN crc BIGINT;
ALTER TABLE change ADD COLUMN crc BIGINT;
ALTER TABLE change ADD COLUMN detail_crc BIGINT;  -- apart, since a forget empties the detail
-- The words index is derived; its digests grow with what is appended.
ALTER TABLE word_block ADD COLUMN records_crc BIGINT;
ALTER TABLE word_block ADD COLUMN entries_crc BIGINT;
