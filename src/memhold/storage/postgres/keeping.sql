-- What keeping the store safe reads: counts, sizes and ids, never content; row-level security shows one scope at a time.

-- name: usage
SELECT 'sessions', count(*), 0 FROM session WHERE namespace = :namespace AND user_id = :user_id
UNION ALL SELECT 'messages', count(*), coalesce(sum(octet_length(body) + octet_length(text) + octet_length(metadata)), 0)
  FROM message WHERE namespace = :namespace AND user_id = :user_id
UNION ALL SELECT 'memories', count(*) FILTER (WHERE unrecorded_at IS NULL),
  coalesce(sum(octet_length(text) + octet_length(coalesce(value, '')) + octet_length(metadata)), 0)
  FROM memory WHERE namespace = :namespace AND user_id = :user_id
UNION ALL SELECT 'changes', count(*), 0 FROM change WHERE namespace = :namespace AND user_id = :user_id
UNION ALL SELECT 'words', count(*), coalesce(sum(octet_length(records) + octet_length(entries)), 0)
  FROM word_block WHERE namespace = :namespace AND user_id = :user_id

-- name: written_by_day
SELECT 'messages', recorded_at / 86400000000 AS day, count(*),
  sum(octet_length(body) + octet_length(text) + octet_length(metadata))
FROM message WHERE namespace = :namespace AND user_id = :user_id AND recorded_at >= :since GROUP BY day
UNION ALL SELECT 'memories', created_at / 86400000000 AS day, count(*) FILTER (WHERE unrecorded_at IS NULL),
  sum(octet_length(text) + octet_length(coalesce(value, '')) + octet_length(metadata))
FROM memory WHERE namespace = :namespace AND user_id = :user_id AND created_at >= :since GROUP BY day

-- name: rotten_changes
SELECT id FROM change WHERE namespace = :namespace AND user_id = :user_id AND verb = :verb ORDER BY seq

-- name: lost_sources
SELECT s.memory_id FROM memory_source AS s
WHERE s.namespace = :namespace AND s.user_id = :user_id
  AND s.position >= 0
  AND NOT EXISTS (SELECT 1 FROM message AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.source_id)
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.source_id)

-- name: damaged_tombstones
SELECT id FROM (
  SELECT id, change_id FROM tombstone WHERE namespace = :namespace AND user_id = :user_id
  EXCEPT SELECT gone.found[1], c.id FROM change AS c, regexp_matches(c.sources, '"([^"]*)"', 'g') AS gone(found)
  WHERE c.namespace = :namespace AND c.user_id = :user_id AND c.verb = 'forget') AS t

-- name: sources_of_nothing
SELECT s.memory_id FROM memory_source AS s
WHERE s.namespace = :namespace AND s.user_id = :user_id
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.memory_id)

-- name: effects_of_nothing
SELECT e.change_id FROM change_effect AS e
WHERE e.namespace = :namespace AND e.user_id = :user_id
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = e.namespace AND m.user_id = e.user_id AND m.id = e.memory_id)
  AND NOT EXISTS (SELECT 1 FROM tombstone AS t
                  WHERE t.namespace = e.namespace AND t.user_id = e.user_id AND t.id = e.memory_id)

-- name: lost_successors
SELECT s.id FROM memory AS s
WHERE s.namespace = :namespace AND s.user_id = :user_id
  AND s.superseded_by IS NOT NULL AND s.unrecorded_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.superseded_by)
  AND NOT EXISTS (SELECT 1 FROM tombstone AS t
                  WHERE t.namespace = s.namespace AND t.user_id = s.user_id AND t.id = s.superseded_by)

-- name: changes_of_messages_lost
SELECT m.id FROM message AS m
WHERE m.namespace = :namespace AND m.user_id = :user_id
  AND NOT EXISTS (SELECT 1 FROM change AS c
                  WHERE c.namespace = m.namespace AND c.user_id = m.user_id AND c.id = m.change_id)

-- name: session_counters_behind
SELECT s.id FROM session AS s
WHERE s.namespace = :namespace AND s.user_id = :user_id
  AND s.last_seq < (SELECT max(m.seq) FROM message AS m
                    WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.session_id = s.session_id)

-- name: broken_revisions
SELECT id FROM memory WHERE namespace = :namespace AND user_id = :user_id GROUP BY id
HAVING count(*) FILTER (WHERE unrecorded_at IS NULL) <> 1 OR max(rev) <> count(*)

-- name: owner_counters_behind
SELECT o.namespace FROM owner AS o
WHERE o.namespace = :namespace AND o.user_id = :user_id AND (o.documents <= greatest(
    (SELECT max(number) FROM message AS m WHERE m.namespace = o.namespace AND m.user_id = o.user_id),
    (SELECT max(number) FROM memory AS m WHERE m.namespace = o.namespace AND m.user_id = o.user_id))
  OR o.sessions < (SELECT max(number) FROM session AS s WHERE s.namespace = o.namespace AND s.user_id = o.user_id))

-- name: change_counters_behind
SELECT c.namespace FROM change AS c LEFT JOIN namespace AS n ON n.namespace = c.namespace
WHERE c.namespace = :namespace AND c.user_id = :user_id
GROUP BY c.namespace, n.change_seq HAVING max(c.seq) > coalesce(n.change_seq, 0)

-- name: large_without_index
SELECT o.documents FROM owner AS o
WHERE o.namespace = :namespace AND o.user_id = :user_id AND o.documents >= :least
  AND NOT EXISTS (SELECT 1 FROM near_scope AS n
                  WHERE n.namespace = o.namespace AND n.user_id = o.user_id AND n.ready = 1)

-- name: index_dropped
SELECT DISTINCT n.generation FROM near_scope AS n
JOIN generation AS g ON g.number = n.generation AND g.state = 'current'
JOIN pg_class AS t ON t.oid IN (
  SELECT to_regclass('near_vector')::oid UNION ALL
  SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('near_vector'))
WHERE n.namespace = :namespace AND n.user_id = :user_id AND n.ready = 1 AND t.relkind = 'r'
  AND NOT EXISTS (SELECT 1 FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid = t.oid AND i.indisvalid AND starts_with(c.relname::text, 'hnsw_' || n.generation::text || '_'))

-- name: rows_ahead
SELECT (SELECT count(*) FROM message WHERE namespace = :namespace AND user_id = :user_id AND recorded_at > :until)
  + (SELECT count(*) FROM memory WHERE namespace = :namespace AND user_id = :user_id AND recorded_at > :until)
  + (SELECT count(*) FROM change WHERE namespace = :namespace AND user_id = :user_id AND at > :until)
