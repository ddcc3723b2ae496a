-- Who wrote a message: one name, or a JSON list of [writer, start, end] of its text where several did. NULL in rows from
-- before: it is read from role and body (messages/former.py) until upkeep has written it down.
ALTER TABLE message ADD COLUMN written_by TEXT COLLATE "C";
