-- Every statement that SQLite and PostgreSQL say alike. :namespace and :user_id are the scope of the transaction, bound by
-- the store itself. What a dialect says in its own way stands in its own file. {message}, {memory}, {change} and {session} are the
-- columns of these tables with their digests (digests.py), {memory:m} those of `memory AS m`, {:memory} parameters of their names.

-- name: read_session
SELECT {session} FROM session WHERE namespace = :namespace AND user_id = :user_id AND session_id = :session_id

-- name: read_session_by_id
SELECT {session} FROM session WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: read_sessions
SELECT {session} FROM session WHERE namespace = :namespace AND user_id = :user_id ORDER BY number

-- name: let_session_stand
UPDATE session SET metadata = :metadata, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND session_id = :session_id

-- name: put_session
INSERT INTO session (namespace, user_id, {session}) VALUES (:namespace, :user_id, {:session})
ON CONFLICT (namespace, user_id, session_id) DO UPDATE SET
  last_seq = excluded.last_seq, cursor = excluded.cursor, rev = excluded.rev, created_at = excluded.created_at,
  last_at = excluded.last_at, ended_at = excluded.ended_at, window_start = excluded.window_start, asked = excluded.asked,
  pending_tokens = excluded.pending_tokens, torn = excluded.torn, metadata = excluded.metadata, crc = excluded.crc

-- name: read_owner
SELECT documents, sessions, index_rev FROM owner WHERE namespace = :namespace AND user_id = :user_id

-- name: put_owner
INSERT INTO owner (namespace, user_id, documents, sessions, index_rev)
VALUES (:namespace, :user_id, :documents, :sessions, :index_rev)
ON CONFLICT (namespace, user_id) DO UPDATE SET
  documents = excluded.documents, sessions = excluded.sessions, index_rev = excluded.index_rev

-- name: read_index_rev
SELECT index_rev FROM owner WHERE namespace = :namespace AND user_id = :user_id

-- name: insert_message
INSERT INTO message (namespace, user_id, {message}) VALUES (:namespace, :user_id, {:message})

-- name: insert_quote
INSERT INTO message_quote (namespace, user_id, item_id, number) VALUES (:namespace, :user_id, :item_id, :number)
ON CONFLICT DO NOTHING

-- SQLite keeps the order of a CROSS JOIN: who names the item is looked up first, and the whole scope is not read.
-- name: read_quoting
SELECT {message:m}
FROM message_quote AS q CROSS JOIN message AS m
WHERE q.namespace = :namespace AND q.user_id = :user_id AND q.item_id = :item_id
  AND m.namespace = :namespace AND m.user_id = :user_id AND m.number = q.number
ORDER BY m.number

-- name: rewrite_message
UPDATE message SET body = :body, text = :text, quotes = :quotes, written_by = :written_by, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: read_unattributed
SELECT {message}
FROM message WHERE namespace = :namespace AND user_id = :user_id AND written_by IS NULL AND role <> ''
  AND number > :after ORDER BY number LIMIT :limit

-- name: put_writers
UPDATE message SET written_by = :written_by, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: read_any_message
SELECT {message} FROM message WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: delete_quotes
DELETE FROM message_quote WHERE namespace = :namespace AND user_id = :user_id AND number = :number

-- name: read_messages
SELECT {message}
FROM message
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND session_id = :session_id AND seq > :after AND seq <= :until
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id IN (:agent_id, ''))
ORDER BY seq LIMIT :limit

-- name: count_session_messages
SELECT count(*) FROM message
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND session_id = :session_id
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id IN (:agent_id, ''))

-- name: read_last_seen
SELECT s.session_id, (
  SELECT m.recorded_at FROM message AS m
  WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.hidden_by IS NULL AND m.session_id = s.session_id
    AND (CAST(:agent_id AS TEXT) IS NULL OR m.agent_id IN (:agent_id, ''))
  ORDER BY m.seq DESC LIMIT 1
) FROM session AS s WHERE s.namespace = :namespace AND s.user_id = :user_id

-- name: count_waiting_messages
SELECT count(*) FROM session AS s
JOIN message AS m
  ON m.namespace = s.namespace AND m.user_id = s.user_id AND m.session_id = s.session_id AND m.seq > s.cursor
WHERE s.namespace = :namespace AND s.user_id = :user_id AND s.last_seq > s.cursor AND m.hidden_by IS NULL

-- name: read_newest_messages
SELECT {message}
FROM message
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND session_id = :session_id AND seq > :after AND seq <= :until
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id IN (:agent_id, ''))
ORDER BY seq DESC LIMIT :limit

-- name: read_message_by_id
SELECT {message}
FROM message WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND id = :id

-- name: read_message_by_number
SELECT {message}
FROM message WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND number = :number

-- name: read_message_before
-- The message of whose numbers this may be a further one: see `Message.numbers`.
SELECT {message}
FROM message WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND number = (
  SELECT max(number) FROM message WHERE namespace = :namespace AND user_id = :user_id AND number < :number)

-- name: read_messages_ahead
SELECT {message} FROM message WHERE namespace = :namespace AND user_id = :user_id AND recorded_at > :now

-- name: redate_message
UPDATE message SET event_time = :event_time, recorded_at = :recorded_at, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND number = :number

-- name: read_memories_ahead
SELECT {memory} FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND (recorded_at > :now OR unrecorded_at > :now)

-- name: redate_memory
UPDATE memory SET event_time = :event_time, valid_from = :valid_from, valid_to = :valid_to, created_at = :created_at,
  recorded_at = :recorded_at, unrecorded_at = :unrecorded_at, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND rev = :rev

-- name: read_changes_ahead
SELECT {change} FROM change WHERE namespace = :namespace AND user_id = :user_id AND at > :now

-- name: redate_change
UPDATE change SET at = :at, crc = :crc WHERE namespace = :namespace AND user_id = :user_id AND seq = :seq

-- name: redate_evidence
UPDATE evidence SET at = :now + place WHERE namespace = :namespace AND user_id = :user_id AND at > :now

-- name: delete_message
DELETE FROM message WHERE namespace = :namespace AND user_id = :user_id AND id = :id RETURNING number, quotes <> '[]'

-- name: delete_numbered_message
DELETE FROM message WHERE namespace = :namespace AND user_id = :user_id AND number = :number RETURNING number, quotes <> '[]'

-- name: read_message_id
SELECT id FROM message WHERE namespace = :namespace AND user_id = :user_id AND number = :number

-- name: close_revision
UPDATE memory SET unrecorded_at = :now
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND rev = :rev AND unrecorded_at IS NULL

-- name: current_revision
SELECT rev, digest, hidden_by FROM memory WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND unrecorded_at IS NULL

-- name: insert_revision
INSERT INTO memory (namespace, user_id, {memory}, digest, hidden_by)
VALUES (:namespace, :user_id, {:memory}, :digest, :hidden_by)

-- name: read_memory
SELECT {memory}
FROM memory WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND id = :id AND unrecorded_at IS NULL

-- name: read_memory_by_number
SELECT {memory}
FROM memory WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND number = :number AND unrecorded_at IS NULL

-- name: read_revisions
SELECT {memory}
FROM memory WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND id = :id ORDER BY rev

-- name: newest_memories
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = :kind
  AND state = :state AND tier = :tier
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id IN (:agent_id, ''))
  AND (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
ORDER BY number DESC LIMIT :limit

-- name: newest_told
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = :kind
  AND state = :state AND tier = :tier AND origin IN ('user', 'model')
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id IN (:agent_id, ''))
  AND (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
ORDER BY number DESC LIMIT :limit

-- name: newest_brought
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = :kind
  AND state = :state AND tier = :tier AND origin IN ('agent', 'tool', 'import', 'rules')
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id IN (:agent_id, ''))
  AND (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
ORDER BY number DESC LIMIT :limit

-- name: read_facts
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND subject = :subject AND fact_key = :fact_key AND kind = 'fact'
  AND agent_id = :agent_id AND unrecorded_at IS NULL
  AND (CAST(:since AS BIGINT) IS NULL OR state IN ('active', 'expired')
       OR (state = 'superseded' AND (valid_to IS NULL OR valid_to >= :since)
           AND valid_from <= coalesce(
             (SELECT min(n.valid_from) FROM memory AS n
              WHERE n.namespace = :namespace AND n.user_id = :user_id AND n.hidden_by IS NULL AND n.subject = :subject
                AND n.fact_key = :fact_key AND n.kind = 'fact' AND n.agent_id = :agent_id AND n.unrecorded_at IS NULL
                AND n.operation = 'set' AND n.state IN ('active', 'superseded', 'expired') AND n.valid_from > :since),
             9223372036854775807)))
ORDER BY valid_from, number

-- name: read_fact_keys
SELECT subject, attribute, fact_key FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND kind = 'fact' AND agent_id = :agent_id
  AND unrecorded_at IS NULL AND state <> 'merged'
GROUP BY subject, fact_key, attribute ORDER BY min(number)

-- name: read_evidence
SELECT memory_id, turn, at, operation, change_id FROM evidence AS e
WHERE e.namespace = :namespace AND e.user_id = :user_id AND e.memory_id = :memory_id
  AND NOT EXISTS (SELECT 1 FROM change AS c
                  WHERE c.namespace = :namespace AND c.user_id = :user_id AND c.id = e.change_id AND c.undone_by IS NOT NULL)
ORDER BY e.place

-- name: insert_evidence
INSERT INTO evidence (namespace, user_id, memory_id, place, turn, at, operation, change_id)
SELECT :namespace, :user_id, :memory_id, count(*), :turn, :at, :operation, :change_id
FROM evidence WHERE namespace = :namespace AND user_id = :user_id AND memory_id = :memory_id
ON CONFLICT (namespace, user_id, memory_id, turn, at, operation) DO UPDATE SET change_id = excluded.change_id

-- name: move_use
UPDATE evidence SET at = :at
WHERE namespace = :namespace AND user_id = :user_id AND memory_id = :memory_id AND turn = '' AND operation = 'asked'

-- name: delete_evidence
DELETE FROM evidence WHERE namespace = :namespace AND user_id = :user_id AND memory_id = :memory_id

-- name: count_evidence
UPDATE memory SET evidence = :evidence, expires_at = :expires_at
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND unrecorded_at IS NULL

-- name: read_progress
SELECT seq FROM progress WHERE namespace = :namespace AND user_id = :user_id AND name = :upkeep

-- name: put_progress
INSERT INTO progress (namespace, user_id, name, seq) VALUES (:namespace, :user_id, :upkeep, :seq)
ON CONFLICT (namespace, user_id, name) DO UPDATE SET seq = excluded.seq

-- name: put_suspicion
INSERT INTO suspicion (namespace, user_id, id, kind, memory_id, other_id, rule, at, change_id, settled, settled_by, looked)
VALUES (:namespace, :user_id, :id, :kind, :memory_id, :other_id, :rule, :at, :change_id, :settled, :settled_by, :looked)
ON CONFLICT (namespace, user_id, id) DO UPDATE SET settled = excluded.settled, settled_by = excluded.settled_by, looked = excluded.looked

-- name: read_suspicions
SELECT s.id, s.kind, s.memory_id, s.other_id, s.rule, s.at, s.change_id,
  CASE WHEN u.id IS NULL THEN s.settled END, CASE WHEN u.id IS NULL THEN s.settled_by END, s.looked
FROM suspicion AS s
LEFT JOIN change AS u ON u.namespace = :namespace AND u.user_id = :user_id AND u.id = s.settled_by AND u.undone_by IS NOT NULL
WHERE s.namespace = :namespace AND s.user_id = :user_id
  AND NOT EXISTS (SELECT 1 FROM change AS c WHERE c.namespace = :namespace AND c.user_id = :user_id AND c.id = s.change_id
                  AND c.undone_by IS NOT NULL)
  AND EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.id = s.memory_id
              AND m.unrecorded_at IS NULL AND m.hidden_by IS NULL)
  AND EXISTS (SELECT 1 FROM memory AS o WHERE o.namespace = :namespace AND o.user_id = :user_id AND o.id = s.other_id
              AND o.unrecorded_at IS NULL AND o.hidden_by IS NULL)
ORDER BY s.at, s.id

-- name: delete_suspicions
DELETE FROM suspicion
WHERE namespace = :namespace AND user_id = :user_id AND (memory_id = :memory_id OR other_id = :memory_id)

-- name: read_key_vectors
SELECT digest, vector FROM key_vector
WHERE namespace = :namespace AND user_id = :user_id AND fingerprint = :fingerprint

-- name: put_key_vector
INSERT INTO key_vector (namespace, user_id, digest, fingerprint, vector)
VALUES (:namespace, :user_id, :digest, :fingerprint, :vector)
ON CONFLICT (namespace, user_id, digest) DO UPDATE SET fingerprint = excluded.fingerprint, vector = excluded.vector

-- name: delete_other_key_vectors
DELETE FROM key_vector WHERE namespace = :namespace AND user_id = :user_id AND fingerprint <> :fingerprint

-- name: delete_key_vectors
DELETE FROM key_vector WHERE namespace = :namespace AND user_id = :user_id

-- name: read_held
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL
  AND valid_from <= :as_of AND (valid_to IS NULL OR valid_to > :as_of)
  AND state IN ('active', 'superseded', 'expired') AND unrecorded_at IS NULL
ORDER BY number

-- name: read_known_seq
SELECT coalesce(max(seq), 0) FROM change WHERE namespace = :namespace AND user_id = :user_id AND at <= :known_at

-- name: read_held_known
SELECT {memory:m}
FROM memory AS m
WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.hidden_by IS NULL
  AND m.valid_from <= :as_of AND (m.valid_to IS NULL OR m.valid_to > :as_of)
  AND m.state IN ('active', 'superseded', 'expired')
  AND coalesce(
    (SELECT min(c.seq) FROM change_effect AS e
     JOIN change AS c ON c.namespace = e.namespace AND c.user_id = e.user_id AND c.id = e.change_id
     WHERE e.namespace = :namespace AND e.user_id = :user_id AND e.memory_id = m.id AND e.rev_before < e.rev_after
       AND e.rev_after = m.rev AND c.at = m.recorded_at),
    CASE WHEN m.recorded_at <= :known_at THEN 0 ELSE 9223372036854775807 END) <= :known_seq
  AND (m.unrecorded_at IS NULL OR coalesce(
    (SELECT min(c.seq) FROM change_effect AS e
     JOIN change AS c ON c.namespace = e.namespace AND c.user_id = e.user_id AND c.id = e.change_id
     WHERE e.namespace = :namespace AND e.user_id = :user_id AND e.memory_id = m.id AND e.rev_before < e.rev_after
       AND e.rev_after = m.rev + 1 AND c.at = m.unrecorded_at),
    CASE WHEN m.unrecorded_at <= :known_at THEN 0 ELSE 9223372036854775807 END) > :known_seq)
ORDER BY m.number

-- name: read_derived
SELECT {memory:m}
FROM memory_source AS s CROSS JOIN memory AS m
WHERE s.namespace = :namespace AND s.user_id = :user_id AND s.source_id = :source_id
  AND m.namespace = :namespace AND m.user_id = :user_id AND m.id = s.memory_id
  AND m.unrecorded_at IS NULL AND m.hidden_by IS NULL
  AND s.since = (SELECT max(o.since) FROM memory_source AS o
                 WHERE o.namespace = :namespace AND o.user_id = :user_id AND o.memory_id = s.memory_id)
ORDER BY m.number

-- name: delete_sources
DELETE FROM memory_source WHERE namespace = :namespace AND user_id = :user_id AND memory_id = :memory_id

-- name: blank_source
UPDATE memory_source SET source_id = '', position = -1 - position
WHERE namespace = :namespace AND user_id = :user_id AND source_id = :source_id

-- name: put_quotes
UPDATE memory SET quotes = :quotes, standing = :standing, doubts = :doubts, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND rev = :rev

-- name: read_quoting_memories
SELECT {memory} FROM memory WHERE namespace = :namespace AND user_id = :user_id AND quotes LIKE :named

-- name: rewrite_quotes
UPDATE memory SET quotes = :quotes, crc = :crc
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND rev = :rev

-- name: insert_source
INSERT INTO memory_source (namespace, user_id, memory_id, since, position, source_id)
VALUES (:namespace, :user_id, :memory_id, :since, :position, :source_id)

-- name: delete_memory
DELETE FROM memory WHERE namespace = :namespace AND user_id = :user_id AND id = :id RETURNING number

-- name: delete_numbered_memory
DELETE FROM memory WHERE namespace = :namespace AND user_id = :user_id AND number = :number RETURNING number

-- name: read_memory_id
SELECT id FROM memory WHERE namespace = :namespace AND user_id = :user_id AND number = :number AND unrecorded_at IS NULL

-- name: read_lost
SELECT e.memory_id FROM change_effect AS e
WHERE e.namespace = :namespace AND e.user_id = :user_id
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.id = e.memory_id)
  AND NOT EXISTS (SELECT 1 FROM tombstone AS t
                  WHERE t.namespace = :namespace AND t.user_id = :user_id AND t.id = e.memory_id)
UNION SELECT s.memory_id FROM memory_source AS s
WHERE s.namespace = :namespace AND s.user_id = :user_id
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.id = s.memory_id)
UNION SELECT s.source_id FROM memory_source AS s
WHERE s.namespace = :namespace AND s.user_id = :user_id AND s.position >= 0
  AND NOT EXISTS (SELECT 1 FROM message AS m
                  WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.id = s.source_id)
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = :namespace AND m.user_id = :user_id AND m.id = s.source_id)

-- name: read_change_seq
SELECT change_seq FROM namespace WHERE namespace = :namespace

-- name: put_change_seq
INSERT INTO namespace (namespace, change_seq) VALUES (:namespace, :change_seq)
ON CONFLICT (namespace) DO UPDATE SET change_seq = excluded.change_seq

-- name: insert_change
INSERT INTO change (namespace, user_id, {change}) VALUES (:namespace, :user_id, {:change})

-- name: insert_effect
INSERT INTO change_effect (namespace, user_id, change_id, position, memory_id, rev_before, rev_after)
VALUES (:namespace, :user_id, :change_id, :position, :memory_id, :rev_before, :rev_after)

-- name: read_changes
SELECT {change}
FROM change WHERE namespace = :namespace AND user_id = :user_id AND seq > :after ORDER BY seq LIMIT :limit

-- name: read_changes_by
SELECT {change}
FROM change WHERE namespace = :namespace AND user_id = :user_id AND verb = :verb AND seq > :after
ORDER BY seq LIMIT :limit

-- name: read_changes_of
SELECT {change:c}
FROM change AS c
WHERE c.namespace = :namespace AND c.user_id = :user_id AND c.seq > :after
  AND c.id IN (SELECT e.change_id FROM change_effect AS e
               WHERE e.namespace = :namespace AND e.user_id = :user_id AND e.memory_id = :memory_id)
ORDER BY c.seq LIMIT :limit

-- name: read_change
SELECT {change}
FROM change WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: read_effects
SELECT memory_id, rev_before, rev_after
FROM change_effect WHERE namespace = :namespace AND user_id = :user_id AND change_id = :change_id ORDER BY position

-- name: mark_undone
UPDATE change SET undone_by = :undone_by WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: let_change_stand
UPDATE change SET at = :at, verb = :verb, reason = :reason, by = :by, sources = :sources, spans = :spans, undoes = :undoes,
  undone_by = :undone_by, detail = :detail, crc = :crc, detail_crc = :detail_crc
WHERE namespace = :namespace AND user_id = :user_id AND seq = :seq

-- name: forget_detail_of_memory
UPDATE change SET detail = '{}', detail_crc = 2745614147
WHERE namespace = :namespace AND user_id = :user_id AND detail <> '{}'
  AND id IN (SELECT e.change_id FROM change_effect AS e
             WHERE e.namespace = :namespace AND e.user_id = :user_id AND e.memory_id = :id)

-- name: read_replay
SELECT fingerprint, receipt, expires_at FROM idempotency
WHERE namespace = :namespace AND user_id = :user_id AND verb = :verb AND key_digest = :key_digest
  AND (expires_at IS NULL OR expires_at > :now)

-- name: put_replay
INSERT INTO idempotency (namespace, user_id, verb, key_digest, fingerprint, receipt, expires_at)
VALUES (:namespace, :user_id, :verb, :key_digest, :fingerprint, :receipt, :expires_at)
ON CONFLICT (namespace, user_id, verb, key_digest) DO UPDATE SET
  fingerprint = excluded.fingerprint, receipt = excluded.receipt, expires_at = excluded.expires_at

-- name: delete_expired_replays
DELETE FROM idempotency WHERE namespace = :namespace AND user_id = :user_id AND expires_at <= :now

-- name: soonest_expiry
SELECT min(expires_at) FROM idempotency WHERE namespace = :namespace AND user_id = :user_id

-- name: put_tombstone
INSERT INTO tombstone (namespace, user_id, id, at, change_id, digest)
VALUES (:namespace, :user_id, :id, :at, :change_id, :digest)
ON CONFLICT (namespace, user_id, id) DO NOTHING

-- name: read_tombstone
SELECT id, at, change_id, digest FROM tombstone WHERE namespace = :namespace AND user_id = :user_id AND id = :id

-- name: read_forgotten_by
SELECT id FROM tombstone WHERE namespace = :namespace AND user_id = :user_id AND change_id = :id ORDER BY at, id

-- name: read_blocked
SELECT 1 FROM tombstone WHERE namespace = :namespace AND user_id = :user_id AND digest = :digest LIMIT 1

-- name: hide_message
UPDATE message SET hidden_by = :change_id
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND hidden_by IS NULL

-- name: hide_memory
UPDATE memory SET hidden_by = :change_id
WHERE namespace = :namespace AND user_id = :user_id AND id = :id AND hidden_by IS NULL

-- name: read_hidden_messages
SELECT {message}
FROM message WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NOT NULL
  AND hidden_by = coalesce(CAST(:by AS TEXT), hidden_by)

-- name: read_hidden_memories
SELECT {memory}
FROM memory WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NOT NULL
  AND hidden_by = coalesce(CAST(:by AS TEXT), hidden_by) AND unrecorded_at IS NULL

-- name: reveal_messages
UPDATE message SET hidden_by = NULL WHERE namespace = :namespace AND user_id = :user_id AND hidden_by = :change_id

-- name: reveal_memories
UPDATE memory SET hidden_by = NULL WHERE namespace = :namespace AND user_id = :user_id AND hidden_by = :change_id

-- name: delete_session
DELETE FROM session WHERE namespace = :namespace AND user_id = :user_id AND session_id = :session_id

-- name: read_agents
SELECT agent_id, number FROM agent WHERE namespace = :namespace AND user_id = :user_id

-- name: delete_memories
DELETE FROM memory WHERE namespace = :namespace AND user_id = :user_id

-- name: delete_agents
DELETE FROM agent WHERE namespace = :namespace AND user_id = :user_id

-- name: insert_agent
INSERT INTO agent (namespace, user_id, agent_id, number)
SELECT :namespace, :user_id, :agent_id, 1 + count(*) FROM agent WHERE namespace = :namespace AND user_id = :user_id
RETURNING number

-- name: read_known
SELECT 1 FROM message WHERE namespace = :namespace AND user_id = :user_id AND id = :id
UNION ALL SELECT 1 FROM memory WHERE namespace = :namespace AND user_id = :user_id AND id = :id
UNION ALL SELECT 1 FROM tombstone WHERE namespace = :namespace AND user_id = :user_id AND id = :id
LIMIT 1

-- name: read_message_documents
SELECT {message}, hidden_by IS NOT NULL
FROM message WHERE namespace = :namespace AND user_id = :user_id AND number > :after ORDER BY number LIMIT :limit

-- name: read_memory_documents
SELECT {memory}, hidden_by IS NOT NULL
FROM memory WHERE namespace = :namespace AND user_id = :user_id AND unrecorded_at IS NULL AND number > :after
ORDER BY number LIMIT :limit

-- name: read_word_blocks
SELECT first, records, entries, records_crc, entries_crc FROM word_block WHERE namespace = :namespace AND user_id = :user_id ORDER BY first

-- name: read_word_block_at
SELECT first, records, entries, records_crc, entries_crc FROM word_block WHERE namespace = :namespace AND user_id = :user_id AND first <= :number
ORDER BY first DESC LIMIT 1

-- name: read_word_tail
SELECT first, length(records), length(entries), records_crc, entries_crc FROM word_block WHERE namespace = :namespace AND user_id = :user_id
ORDER BY first DESC LIMIT 1

-- name: put_word_block
INSERT INTO word_block (namespace, user_id, first, records, entries, records_crc, entries_crc)
VALUES (:namespace, :user_id, :first, :records, :entries, :records_crc, :entries_crc)
ON CONFLICT (namespace, user_id, first) DO UPDATE SET records = excluded.records, entries = excluded.entries,
  records_crc = excluded.records_crc, entries_crc = excluded.entries_crc

-- A new block; where a damaged one stands at its place, that one stays, and says that it is damaged.
-- name: open_word_block
INSERT INTO word_block (namespace, user_id, first, records, entries, records_crc, entries_crc)
VALUES (:namespace, :user_id, :first, :records, :entries, :records_crc, :entries_crc)
ON CONFLICT (namespace, user_id, first) DO NOTHING

-- name: clear_word_blocks
DELETE FROM word_block WHERE namespace = :namespace AND user_id = :user_id

-- name: read_document_count
SELECT documents FROM owner WHERE namespace = :namespace AND user_id = :user_id

-- name: read_generations
-- scope: upkeep
SELECT number, fingerprint, dimension, state, made_at FROM generation ORDER BY number

-- name: put_generation
-- scope: upkeep
INSERT INTO generation (number, fingerprint, dimension, state, made_at)
VALUES (:number, :fingerprint, :dimension, :state, :made_at)
ON CONFLICT (number) DO UPDATE SET state = excluded.state

-- name: read_vector_rev
SELECT vector_rev FROM owner WHERE namespace = :namespace AND user_id = :user_id

-- name: move_vector_rev
UPDATE owner SET vector_rev = vector_rev + 1 WHERE namespace = :namespace AND user_id = :user_id RETURNING vector_rev

-- name: read_vector_marks
SELECT first, rev, marks, length(vectors) FROM vector_block
WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation ORDER BY first

-- name: read_vector_block
SELECT first, rev, marks, vectors, marks_crc, vectors_crc FROM vector_block
WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation AND first = :first

-- name: put_vector_block
INSERT INTO vector_block (namespace, user_id, generation, first, rev, marks, vectors, marks_crc, vectors_crc)
VALUES (:namespace, :user_id, :generation, :first, :rev, :marks, :vectors, :marks_crc, :vectors_crc)
ON CONFLICT (namespace, user_id, generation, first) DO UPDATE SET
  rev = excluded.rev, marks = excluded.marks, vectors = excluded.vectors,
  marks_crc = excluded.marks_crc, vectors_crc = excluded.vectors_crc

-- name: clear_vectors
DELETE FROM vector_block WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation

-- name: read_due
SELECT namespace, user_id, kind, ref, due_at, attempts, last_error, token
FROM due WHERE namespace = :namespace AND user_id = :user_id ORDER BY due_at, kind, ref

-- name: read_due_item
SELECT namespace, user_id, kind, ref, due_at, attempts, last_error, token
FROM due WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref

-- name: count_leased
SELECT count(*) FROM due WHERE namespace = :namespace AND user_id = :user_id AND leased_until > :now

-- name: clear_due
DELETE FROM due WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref

-- name: count_messages
SELECT count(*) FROM message WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL

-- name: count_memories
SELECT kind, tier, state, count(*) FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL GROUP BY kind, tier, state

-- name: renew_lease
-- scope: upkeep
UPDATE due SET leased_until = :leased_until
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref AND token = :token AND leased_until > :now

-- name: finish_due
-- scope: upkeep
DELETE FROM due
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref AND token = :token AND leased_until > :now
  AND again_at IS NULL

-- name: start_again
-- scope: upkeep
UPDATE due SET due_at = again_at, again_at = NULL, attempts = 0, last_error = NULL, holder = NULL, leased_until = NULL
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref AND token = :token AND leased_until > :now

-- name: read_scopes
-- scope: upkeep
SELECT namespace, user_id FROM owner ORDER BY namespace, user_id

-- name: read_users
-- scope: upkeep
SELECT user_id FROM owner WHERE namespace = :namespace AND user_id > :after
UNION SELECT user_id FROM owner
  WHERE namespace > :namespace || '//' AND namespace < :namespace || '/0' AND user_id > :after
ORDER BY user_id LIMIT :limit

-- name: read_below
-- scope: upkeep
-- The character behind the stroke is 0: between the two stand the names that begin with two strokes.
SELECT namespace FROM owner
WHERE namespace > :namespace || '//' AND namespace < :namespace || '/0' AND user_id = :user_id ORDER BY namespace

-- name: add_usage
-- scope: upkeep
INSERT INTO model_usage AS u (day, model, purpose, calls, answered, retries, input_tokens, output_tokens, milliseconds,
  nanousd, unpriced, f_retry, f_resample, f_next, f_park, f_shorten, f_poison, f_auth)
VALUES (:day, :model, :purpose, :calls, :answered, :retries, :input_tokens, :output_tokens, :milliseconds, :nanousd,
  :unpriced, :f_retry, :f_resample, :f_next, :f_park, :f_shorten, :f_poison, :f_auth)
ON CONFLICT (day, model, purpose) DO UPDATE SET
  calls = u.calls + excluded.calls,
  answered = u.answered + excluded.answered,
  retries = u.retries + excluded.retries,
  input_tokens = u.input_tokens + excluded.input_tokens,
  output_tokens = u.output_tokens + excluded.output_tokens,
  milliseconds = u.milliseconds + excluded.milliseconds,
  nanousd = u.nanousd + excluded.nanousd,
  unpriced = u.unpriced + excluded.unpriced,
  f_retry = u.f_retry + excluded.f_retry,
  f_resample = u.f_resample + excluded.f_resample,
  f_next = u.f_next + excluded.f_next,
  f_park = u.f_park + excluded.f_park,
  f_shorten = u.f_shorten + excluded.f_shorten,
  f_poison = u.f_poison + excluded.f_poison,
  f_auth = u.f_auth + excluded.f_auth

-- name: read_usage
-- scope: upkeep
SELECT day, model, purpose, calls, answered, retries, input_tokens, output_tokens, milliseconds, nanousd, unpriced,
  f_retry, f_resample, f_next, f_park, f_shorten, f_poison, f_auth
FROM model_usage WHERE day >= :since ORDER BY day, model, purpose

-- Which call is the later is `LinkNote.after`: one that is seen five minutes ahead was seen by a clock that was wrong.
-- name: put_link
-- scope: upkeep
INSERT INTO model_link AS l (model, url, form, asked, seen_at, failing_since, cls, status, code, reason, said, unloads)
VALUES (:model, :url, :form, :asked, :seen_at, :failing_since, :cls, :status, :code, :reason, :said, :unloads)
ON CONFLICT (model, url) DO UPDATE SET
  form = COALESCE(excluded.form, l.form),
  asked = COALESCE(excluded.asked, l.asked),
  failing_since = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.failing_since
    WHEN excluded.failing_since IS NULL OR l.failing_since IS NULL THEN excluded.failing_since
    WHEN l.failing_since < excluded.failing_since THEN l.failing_since ELSE excluded.failing_since END,
  cls = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.cls ELSE excluded.cls END,
  status = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.status ELSE excluded.status END,
  code = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.code ELSE excluded.code END,
  reason = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.reason ELSE excluded.reason END,
  said = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.said ELSE excluded.said END,
  unloads = l.unloads + excluded.unloads,
  seen_at = CASE WHEN l.seen_at BETWEEN excluded.seen_at + 1 AND excluded.seen_at + 299999999 THEN l.seen_at ELSE excluded.seen_at END

-- name: read_links
-- scope: upkeep
SELECT model, url, form, asked, seen_at, failing_since, cls, status, code, reason, said, unloads FROM model_link
ORDER BY model, url

-- name: add_token
-- scope: upkeep
INSERT INTO token (id, namespace, user_id, agent_id, rights, label, digest, created_at, expires_at, revoked_at, used_on,
  actor)
VALUES (:id, :namespace, :user_id, :agent_id, :rights, :label, :digest, :created_at, :expires_at, :revoked_at, :used_on, :actor)

-- name: find_token
-- scope: upkeep
SELECT id, namespace, user_id, agent_id, rights, label, digest, created_at, expires_at, revoked_at, used_on, actor
FROM token WHERE id = :id

-- name: no_token
-- scope: upkeep
SELECT NOT EXISTS (SELECT 1 FROM token)

-- name: read_tokens
-- scope: upkeep
SELECT id, namespace, user_id, agent_id, rights, label, digest, created_at, expires_at, revoked_at, used_on, actor
FROM token WHERE CAST(:namespace AS TEXT) IS NULL OR namespace = :namespace ORDER BY created_at, id

-- name: revoke_token
-- scope: upkeep
UPDATE token SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL

-- name: note_token_use
-- scope: upkeep
UPDATE token SET used_on = :day WHERE id = :id AND (used_on IS NULL OR used_on < :day)
