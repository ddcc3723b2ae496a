-- What an application keeps beside a session's messages: never searched, never put into a prompt, never learnt from.

ALTER TABLE session ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'; -- JSON
