-- What the PostgreSQL store says in its own way, and what only this store needs; the other statements stand in
-- storage/sql/queries.sql.

-- name: read_same_content
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND digest = :digest AND state = 'active' AND kind = :kind
  AND agent_id = :agent_id AND unrecorded_at IS NULL
ORDER BY number LIMIT 1

-- name: list_memories
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND number > :after
  AND (:kinds::text IS NULL OR strpos(:kinds, ',' || kind || ',') > 0)
  AND (:states::text IS NULL OR strpos(:states, ',' || state || ',') > 0)
  AND (:agent_id::text IS NULL OR agent_id IN (:agent_id, ''))
  AND (:session_id::text IS NULL OR session_id = :session_id)
  AND (:origin::text IS NULL OR origin = :origin)
  AND (:actor::text IS NULL OR actor = :actor)
  AND (:subject::text IS NULL OR subject = :subject)
  AND (:written_since::bigint IS NULL OR created_at >= :written_since)
  AND (:written_until::bigint IS NULL OR created_at < :written_until)
  AND (:unconfirmed_since::bigint IS NULL
    OR coalesce(last_confirmed_at, CASE WHEN origin = 'user' THEN created_at END, -9223372036854775807) < :unconfirmed_since)
ORDER BY number LIMIT :limit

-- A key may be longer than an entry of an index: its beginning finds it.
-- name: read_fact_key
SELECT subject, attribute, fact_key FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND kind = 'fact' AND agent_id = :agent_id
  AND unrecorded_at IS NULL AND state <> 'merged' AND left(attribute, 100) = left(:attribute, 100)
  AND subject = :subject AND attribute = :attribute
ORDER BY number LIMIT 1

-- name: read_paths
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = 'document'
  AND state = 'active' AND left(fact_key, 100) >= left(:first, 100) AND left(fact_key, 100) <= left(:until, 100)
  AND fact_key < :until AND (fact_key, number) > (:first, :after)
ORDER BY left(fact_key, 100), fact_key, number LIMIT :limit

-- name: read_places
SELECT number, fact_key, agent_id, expires_at
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = 'document'
  AND state = 'active' AND left(fact_key, 100) >= left(:first, 100) AND left(fact_key, 100) <= left(:until, 100)
  AND fact_key >= :first AND fact_key < :until
ORDER BY left(fact_key, 100), fact_key, number

-- name: read_former_paths
SELECT {memory}
FROM memory
WHERE namespace = :namespace AND user_id = :user_id AND hidden_by IS NULL AND unrecorded_at IS NULL AND kind = 'document'
  AND left(fact_key, 100) >= left(:first, 100) AND left(fact_key, 100) <= left(:until, 100)
  AND fact_key < :until AND (fact_key, number) > (:first, :after)
ORDER BY left(fact_key, 100), fact_key, number LIMIT :limit

-- name: read_sources
SELECT m.place - 1, s.source_id FROM jsonb_array_elements(:revisions::jsonb) WITH ORDINALITY AS m(one, place)
CROSS JOIN LATERAL (
  SELECT h.source_id, h.position FROM memory_source AS h
  WHERE h.namespace = :namespace AND h.user_id = :user_id AND h.memory_id = (m.one ->> 0) COLLATE "C" AND h.position >= 0
    AND h.since = (SELECT max(o.since) FROM memory_source AS o
                   WHERE o.namespace = :namespace AND o.user_id = :user_id AND o.memory_id = (m.one ->> 0) COLLATE "C"
                     AND o.since <= (m.one ->> 1)::bigint)
) AS s
ORDER BY m.place, s.position

-- name: forget_detail_of_source
UPDATE change SET detail = '{}', detail_crc = 2745614147
WHERE namespace = :namespace AND user_id = :user_id AND detail <> '{}' AND strpos(sources, '"' || :id::text || '"') > 0

-- name: append_word_block
UPDATE word_block SET records = records || :records, entries = entries || :entries,
  records_crc = :records_crc, entries_crc = :entries_crc
WHERE namespace = :namespace AND user_id = :user_id AND first = :first

-- name: read_overdue
SELECT ref FROM due
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND due_at <= :now ORDER BY due_at, ref

-- name: put_due
INSERT INTO due (namespace, user_id, kind, ref, due_at) VALUES (:namespace, :user_id, :kind, :ref, :due_at)
ON CONFLICT (namespace, user_id, kind, ref) DO UPDATE SET
  due_at = CASE WHEN due.leased_until > :now THEN due.due_at ELSE least(due.due_at, excluded.due_at) END,
  again_at = CASE WHEN due.leased_until > :now THEN least(due.again_at, excluded.due_at) END
-- What is due already stays as it is: it is locked, and not written anew.
WHERE CASE WHEN due.leased_until > :now THEN coalesce(due.again_at > excluded.due_at, true)
  ELSE due.due_at > excluded.due_at OR due.again_at IS NOT NULL END

-- name: put_timeline
-- scope: upkeep
INSERT INTO store (name, value) VALUES ('timeline', :timeline) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: read_clock
-- scope: upkeep
SELECT coalesce(max(value), 0) FROM clock WHERE value <= :until

-- name: write_clock
-- scope: upkeep
UPDATE clock SET value = :now WHERE stripe = pg_backend_pid() % 64 AND (value < :now OR value > :until)

-- name: set_back_clock
-- scope: upkeep
UPDATE clock SET value = :now WHERE value > :now

-- name: take_lease_token
-- scope: upkeep
SELECT nextval('lease_token')

-- name: find_due
-- scope: upkeep
SELECT namespace, user_id, kind, ref, due_at, attempts, last_error, token
FROM (
  SELECT *, row_number() OVER (PARTITION BY namespace, user_id ORDER BY due_at, kind, ref) AS place
  FROM (
    (SELECT found.* FROM string_to_table(:kinds, ',') AS wanted CROSS JOIN LATERAL (
       SELECT * FROM due
       WHERE kind = wanted AND due_at <= :now AND leased_until IS NULL
         AND (:of_namespace::text IS NULL OR (namespace = :of_namespace AND user_id = :of_user))
       ORDER BY due_at LIMIT 1000
     ) AS found
     ORDER BY due_at LIMIT 1000)
    UNION ALL
    (SELECT * FROM due
     WHERE due_at <= :now AND (leased_until <= :now OR leased_until > :longest) AND strpos(:kinds, ',' || kind || ',') > 0
       AND (:of_namespace::text IS NULL OR (namespace = :of_namespace AND user_id = :of_user))
     ORDER BY leased_until LIMIT 1000)
  ) AS soonest
) AS placed
ORDER BY place, due_at, namespace, user_id, kind, ref LIMIT :limit

-- name: any_due
-- scope: upkeep
SELECT EXISTS (
  SELECT 1 FROM string_to_table(:kinds, ',') AS wanted CROSS JOIN LATERAL (
    SELECT 1 FROM due
    WHERE kind = wanted AND due_at <= :now AND leased_until IS NULL
      AND (:of_namespace::text IS NULL OR (namespace = :of_namespace AND user_id = :of_user))
    LIMIT 1
  ) AS found
) OR EXISTS (
  SELECT 1 FROM due
  WHERE due_at <= :now AND (leased_until <= :now OR leased_until > :longest) AND strpos(:kinds, ',' || kind || ',') > 0
    AND (:of_namespace::text IS NULL OR (namespace = :of_namespace AND user_id = :of_user))
)

-- name: lease_due
-- scope: upkeep
UPDATE due SET token = :token, holder = :holder, leased_until = :leased_until, again_at = NULL
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref
  AND EXISTS (SELECT 1 FROM due AS d
              WHERE d.namespace = :namespace AND d.user_id = :user_id AND d.kind = :kind AND d.ref = :ref
                AND d.due_at <= :now AND (d.leased_until IS NULL OR d.leased_until <= :now OR d.leased_until > :longest)
              FOR UPDATE SKIP LOCKED)
RETURNING namespace, user_id, kind, ref, due_at, attempts, last_error, token

-- name: count_due
-- scope: upkeep
SELECT count(*) FROM due WHERE due_at <= :now AND strpos(:kinds, ',' || kind || ',') > 0
  AND (:of_namespace::text IS NULL OR (namespace = :of_namespace AND user_id = :of_user))

-- name: hasten_due
-- scope: upkeep
UPDATE due SET due_at = least(due_at, :now)
WHERE attempts >= :least AND due_at > :after AND (leased_until IS NULL OR leased_until <= :now OR leased_until > :longest) AND strpos(:kinds, ',' || kind || ',') > 0
  AND (:of_namespace::text IS NULL OR (namespace = :of_namespace AND user_id = :of_user))

-- name: put_off_due
-- scope: upkeep
UPDATE due SET due_at = CASE WHEN :attempt <> 0 THEN :due_at ELSE least(:due_at, again_at) END,
  attempts = attempts + :attempt, last_error = :last_error, holder = NULL, leased_until = NULL, again_at = NULL
WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref AND token = :token AND leased_until > :now

-- name: soonest_due
-- scope: upkeep
SELECT least(
  (SELECT min(found.due_at) FROM string_to_table(:kinds, ',') AS wanted CROSS JOIN LATERAL (
     SELECT due_at FROM due WHERE kind = wanted AND leased_until IS NULL ORDER BY due_at LIMIT 1
   ) AS found),
  (SELECT min(greatest(due_at, leased_until)) FROM due WHERE leased_until IS NOT NULL AND strpos(:kinds, ',' || kind || ',') > 0))

-- A transaction that writes leaves its mark with the lock: it stands once it commits.
-- name: lock_with_mark
UPDATE namespace SET marks = substring(:mark || marks FROM 1 FOR 256) WHERE namespace = :namespace RETURNING marks

-- name: lock_namespace
SELECT marks FROM namespace WHERE namespace = :namespace FOR UPDATE

-- name: add_namespace
INSERT INTO namespace (namespace, change_seq) VALUES (:namespace, 0) ON CONFLICT (namespace) DO NOTHING

-- What read_owner, read_change_seq, read_session and read_word_tail give, of those rows that are there, and read_clock.
-- name: read_likely
SELECT o.documents, o.sessions, o.index_rev, n.change_seq,
  {session:s},
  w.first, w.records_size, w.entries_size, w.records_crc, w.entries_crc,
  (SELECT coalesce(max(value), 0) FROM clock WHERE value <= :until)
FROM namespace AS n
LEFT JOIN owner AS o ON o.namespace = :namespace AND o.user_id = :user_id
LEFT JOIN session AS s ON s.namespace = :namespace AND s.user_id = :user_id AND s.session_id = :session_id
LEFT JOIN LATERAL (
  SELECT first, length(records) AS records_size, length(entries) AS entries_size, records_crc, entries_crc
  FROM word_block WHERE namespace = :namespace AND user_id = :user_id ORDER BY first DESC LIMIT 1
) AS w ON true
WHERE n.namespace = :namespace

-- name: lock_due_item
SELECT namespace, user_id, kind, ref, due_at, attempts, last_error, token
FROM due WHERE namespace = :namespace AND user_id = :user_id AND kind = :kind AND ref = :ref
FOR NO KEY UPDATE

-- name: enter
-- scope: upkeep
SELECT set_config('memhold.namespace', :namespace, true), set_config('memhold.user_id', :user_id, true)

-- name: enter_upkeep
-- scope: upkeep
-- Due work is read in the order of its indexes, a few rows of many. The planner takes row-level security for a filter
-- that leaves next to nothing, and would read and sort every item of a long queue instead, at each look.
SELECT set_config('memhold.upkeep', 'on', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)

-- The vectors of large scopes by row, one for each sentence of a document. {dimension} and {generation} are whole numbers
-- that the store puts in: an index of nearest neighbours is found by the planner only where they stand in the text.

-- name: read_near
SELECT upto, ready = 1 AND to_regtype('halfvec') IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM pg_class AS t
  WHERE t.relkind = 'r' AND t.oid IN (SELECT to_regclass('near_vector')::oid UNION ALL
    SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('near_vector'))
    AND NOT EXISTS (SELECT 1 FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
      WHERE i.indrelid = t.oid AND i.indisvalid AND starts_with(c.relname::text, 'hnsw_' || :generation::text || '_')))
FROM near_scope WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation

-- name: read_nears
SELECT generation, upto FROM near_scope WHERE namespace = :namespace AND user_id = :user_id

-- name: put_near
INSERT INTO near_scope (namespace, user_id, generation, upto, ready)
VALUES (:namespace, :user_id, :generation, :upto, :ready)
ON CONFLICT (namespace, user_id, generation) DO UPDATE SET upto = excluded.upto, ready = excluded.ready

-- name: delete_near
DELETE FROM near_scope WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation

-- name: put_near_vector
INSERT INTO near_vector (namespace, user_id, generation, number, part, vector)
VALUES (:namespace, :user_id, :generation, :number, :part, :vector::real[])

-- name: delete_near_vector
DELETE FROM near_vector
WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation AND number = :number

-- name: clear_near_vectors
DELETE FROM near_vector WHERE namespace = :namespace AND user_id = :user_id AND generation = :generation

-- name: seek_near
-- scope: upkeep
SELECT set_config('hnsw.ef_search', :breadth, true), set_config('hnsw.iterative_scan', 'strict_order', true),
  set_config('hnsw.max_scan_tuples', :most, true)

-- name: nearest
SELECT number, -(vector::vector({dimension}) <#> :asked::real[]::vector({dimension}))
FROM (SELECT number, vector FROM near_vector
  WHERE namespace = :namespace AND user_id = :user_id AND generation = {generation}
  ORDER BY vector::halfvec({dimension}) <#> :asked::real[]::halfvec({dimension}) LIMIT :limit) AS near

-- name: nearest_exact
SELECT number, -(vector::vector({dimension}) <#> :asked::real[]::vector({dimension})) AS cosine
FROM near_vector WHERE namespace = :namespace AND user_id = :user_id AND generation = {generation}
ORDER BY cosine DESC LIMIT :limit

-- name: cosines_of
SELECT number, -(vector::vector({dimension}) <#> :asked::real[]::vector({dimension}))
FROM near_vector
WHERE namespace = :namespace AND user_id = :user_id AND generation = {generation} AND number = ANY(:numbers::bigint[])
