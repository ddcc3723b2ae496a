-- Who wrote a message: one name, or a JSON list of [writer, start, end] of its text where several did. NULL in rows from
-- before: it is read from role and body (messages/former.py) until upkeep has written it down.
ALTER TABLE message ADD COLUMN written_by TEXT;
CREATE INDEX message_unattributed ON message (namespace, user_id, number) WHERE written_by IS NULL AND role <> '';
INSERT INTO due (namespace, user_id, kind, ref, due_at)
SELECT namespace, user_id, 'writers', 'messages', 0 FROM owner WHERE documents > 0
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET due_at = 0;
