-- What the SQLite store says in its own way; the other statements stand in storage/sql/queries.sql.

-- name: read_same_content
-- By the digest: to the planner another index is as good, and that walks the scope. It gives the rows by number; to ask for
-- that order costs seven times as much as to find the row.
SELECT {memory}
FROM memory INDEXED BY memory_digest
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND digest = :digest AND state = 'active' AND kind = :kind
  AND agent_id = :agent_id AND unrecorded_at IS NULL
LIMIT 1

-- name: list_memories
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND number > :after
  AND (:kinds IS NULL OR instr(:kinds, ',' || kind || ',') > 0)
  AND (:states IS NULL OR instr(:states, ',' || state || ',') > 0)
  AND (:agent_id IS NULL OR agent_id IN (:agent_id, ''))
  AND (:session_id IS NULL OR session_id = :session_id)
  AND (:origin IS NULL OR origin = :origin)
  AND (:actor IS NULL OR actor = :actor)
  AND (:subject IS NULL OR subject = :subject)
  AND (:written_since IS NULL OR created_at >= :written_since)
  AND (:written_until IS NULL OR created_at < :written_until)
  AND (:unconfirmed_since IS NULL
    OR coalesce(last_confirmed_at, CASE WHEN origin = 'user' THEN created_at END, -9223372036854775807) < :unconfirmed_since)
ORDER BY number LIMIT :limit

-- name: read_fact_key
SELECT subject, attribute, fact_key FROM memory INDEXED BY memory_wording
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND kind = 'fact' AND agent_id = :agent_id
  AND unrecorded_at IS NULL AND state <> 'merged' AND subject = :subject AND attribute = :attribute
ORDER BY number LIMIT 1

-- name: read_paths
SELECT {memory}
FROM memory INDEXED BY memory_path
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = 'document'
  AND state = 'active' AND fact_key < :until AND (fact_key, number) > (:first, :after)
ORDER BY fact_key, number LIMIT :limit

-- name: read_places
SELECT number, fact_key, agent_id, expires_at
FROM memory INDEXED BY memory_path
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = 'document'
  AND state = 'active' AND fact_key >= :first AND fact_key < :until
ORDER BY fact_key, number

-- name: read_former_paths
SELECT {memory}
FROM memory INDEXED BY memory_former_path
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = 'document'
  AND fact_key < :until AND (fact_key, number) > (:first, :after)
ORDER BY fact_key, number LIMIT :limit

-- name: read_sources
SELECT m.key, s.source_id FROM json_each(:revisions) AS m
CROSS JOIN memory_source AS s ON s.memory_id = m.value ->> 0
WHERE s.namespace = :namespace AND s.user_id = :user_id AND s.position >= 0
  AND s.since = (SELECT max(o.since) FROM memory_source AS o
                 WHERE o.namespace = :namespace AND o.user_id = :user_id AND o.memory_id = m.value ->> 0
                   AND o.since <= m.value ->> 1)
ORDER BY m.key, s.position

-- name: forget_detail_of_source
UPDATE change SET detail = '{}', detail_crc = 2745614147
WHERE namespace = :namespace AND user_id = :user_id AND detail <> '{}' AND instr(sources, '"' || :id || '"') > 0

-- name: append_word_block
UPDATE word_block SET records = CAST(records || :records AS BLOB), entries = CAST(entries || :entries AS BLOB),
  records_crc = :records_crc, entries_crc = :entries_crc
WHERE namespace = :namespace AND user_id = :user_id AND first = :first

-- name: read_overdue
SELECT ref FROM due INDEXED BY due_of_scope
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND due_at <= :now ORDER BY due_at, ref

-- name: put_due
INSERT INTO due (namespace, user_id, kind, ref, due_at) VALUES (:namespace, :user_id, :kind, :ref, :due_at)
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET
  due_at = CASE WHEN leased_until > :now THEN due_at ELSE min(due_at, excluded.due_at) END,
  again_at = CASE WHEN leased_until > :now THEN min(ifnull(again_at, excluded.due_at), excluded.due_at) END
-- What is due already stays as it is: nothing is written, neither a row nor its places in two indexes.
WHERE CASE WHEN leased_until > :now THEN ifnull(again_at > excluded.due_at, true)
  ELSE due_at > excluded.due_at OR again_at IS NOT NULL END

-- name: read_clock
-- scope: upkeep
SELECT value FROM store WHERE name = 'clock'

-- name: write_clock
-- scope: upkeep
UPDATE store SET value = :now WHERE name = 'clock'

-- name: set_back_clock
-- scope: upkeep
UPDATE store SET value = :now WHERE name = 'clock' AND value > :now

-- name: take_lease_token
-- scope: upkeep
UPDATE store SET value = value + 1 WHERE name = 'lease' RETURNING value

-- name: find_due
-- scope: upkeep
SELECT namespace, user_id, kind, ref, due_at, attempts, last_error, token
FROM (
  SELECT *, row_number() OVER (PARTITION BY namespace, user_id ORDER BY due_at, kind, ref) AS place
  FROM (
    SELECT * FROM due
    WHERE due_at <= :now AND (leased_until IS NULL OR leased_until <= :now OR leased_until > :longest) AND instr(:kinds, ',' || kind || ',') > 0
      AND (:of_namespace IS NULL OR (namespace = :of_namespace AND user_id = :of_user))
    ORDER BY due_at LIMIT 1000
  )
)
ORDER BY place, due_at, namespace, user_id, kind, ref LIMIT :limit

-- name: any_due
-- scope: upkeep
SELECT EXISTS (
  SELECT 1 FROM due
  WHERE due_at <= :now AND (leased_until IS NULL OR leased_until <= :now OR leased_until > :longest) AND instr(:kinds, ',' || kind || ',') > 0
    AND (:of_namespace IS NULL OR (namespace = :of_namespace AND user_id = :of_user))
)

-- name: lease_due
-- scope: upkeep
UPDATE due SET token = :token, holder = :holder, leased_until = :leased_until, again_at = NULL
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref

-- name: read_holders
-- scope: upkeep
SELECT DISTINCT holder FROM due WHERE leased_until > :now AND holder IS NOT NULL

-- name: free_held
-- scope: upkeep
UPDATE due SET leased_until = :now WHERE holder = :holder AND leased_until > :now

-- name: count_due
-- scope: upkeep
SELECT count(*) FROM due WHERE due_at <= :now AND instr(:kinds, ',' || kind || ',') > 0
  AND (:of_namespace IS NULL OR (namespace = :of_namespace AND user_id = :of_user))

-- name: hasten_due
-- scope: upkeep
UPDATE due SET due_at = min(due_at, :now)
WHERE attempts >= :least AND due_at > :after AND (leased_until IS NULL OR leased_until <= :now OR leased_until > :longest) AND instr(:kinds, ',' || kind || ',') > 0
  AND (:of_namespace IS NULL OR (namespace = :of_namespace AND user_id = :of_user))

-- name: put_off_due
-- scope: upkeep
UPDATE due SET due_at = CASE WHEN :attempt <> 0 THEN :due_at ELSE min(:due_at, ifnull(again_at, :due_at)) END,
  attempts = attempts + :attempt, last_error = :last_error, holder = NULL, leased_until = NULL, again_at = NULL
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref AND token = :token AND leased_until > :now

-- name: soonest_due
-- scope: upkeep
SELECT min(max(due_at, ifnull(leased_until, 0))) FROM due WHERE instr(:kinds, ',' || kind || ',') > 0
