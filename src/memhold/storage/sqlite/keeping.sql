-- What keeping the store safe reads, across scopes: counts, sizes and ids, never content.

-- name: store_facts
-- scope: upkeep
SELECT name, value FROM store

-- name: all_tombstones
-- scope: upkeep
SELECT namespace, user_id, id, at, change_id, digest FROM tombstone WHERE at >= :since ORDER BY at, id

-- name: all_owners
-- scope: upkeep
SELECT namespace, user_id FROM owner ORDER BY namespace, user_id

-- name: all_tables
-- scope: upkeep
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name

-- name: usage
-- scope: upkeep
SELECT namespace, 'users', count(*), 0 FROM owner GROUP BY namespace
UNION ALL SELECT namespace, 'sessions', count(*), 0 FROM session GROUP BY namespace
UNION ALL SELECT namespace, 'messages', count(*), sum(octet_length(body) + octet_length(text) + octet_length(metadata))
  FROM message GROUP BY namespace
UNION ALL SELECT namespace, 'memories', count(*) FILTER (WHERE unrecorded_at IS NULL),
  sum(octet_length(text) + octet_length(ifnull(value, '')) + octet_length(metadata)) FROM memory GROUP BY namespace
UNION ALL SELECT namespace, 'changes', count(*), 0 FROM change GROUP BY namespace
UNION ALL SELECT namespace, 'words', count(*), sum(octet_length(records) + octet_length(entries))
  FROM word_block GROUP BY namespace

-- name: written_by_day
-- scope: upkeep
SELECT namespace, 'messages', recorded_at / 86400000000 AS day, count(*),
  sum(octet_length(body) + octet_length(text) + octet_length(metadata))
FROM message WHERE recorded_at >= :since GROUP BY namespace, day
UNION ALL SELECT namespace, 'memories', created_at / 86400000000 AS day, count(*) FILTER (WHERE unrecorded_at IS NULL),
  sum(octet_length(text) + octet_length(ifnull(value, '')) + octet_length(metadata))
FROM memory WHERE created_at >= :since GROUP BY namespace, day

-- name: lost_sources
-- scope: upkeep
SELECT s.memory_id FROM memory_source AS s
WHERE s.position >= 0
  AND NOT EXISTS (SELECT 1 FROM message AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.source_id)
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.source_id)

-- name: damaged_tombstones
-- scope: upkeep
SELECT CAST(id AS TEXT) FROM tombstone
WHERE typeof(namespace) <> 'text' OR typeof(user_id) <> 'text' OR typeof(id) <> 'text' OR typeof(at) <> 'integer'
   OR typeof(change_id) <> 'text' OR typeof(digest) NOT IN ('null', 'blob')
UNION ALL SELECT CAST(id AS TEXT) FROM (
  SELECT namespace, user_id, id, change_id FROM tombstone
  EXCEPT SELECT c.namespace, c.user_id, gone.atom, c.id
  FROM change AS c, json_each(iif(json_valid(c.sources), c.sources, '[]')) AS gone WHERE c.verb = 'forget')

-- name: sources_of_nothing
-- scope: upkeep
SELECT s.memory_id FROM memory_source AS s
WHERE NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.memory_id)

-- name: effects_of_nothing
-- scope: upkeep
SELECT e.change_id FROM change_effect AS e
WHERE NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = e.namespace AND m.user_id = e.user_id AND m.id = e.memory_id)
  AND NOT EXISTS (SELECT 1 FROM tombstone AS t
                  WHERE t.namespace = e.namespace AND t.user_id = e.user_id AND t.id = e.memory_id)

-- name: rotten_changes
-- scope: upkeep
SELECT id FROM change WHERE verb = :verb ORDER BY namespace, user_id, seq

-- name: lost_successors
-- scope: upkeep
SELECT s.id FROM memory AS s
WHERE s.superseded_by IS NOT NULL AND s.unrecorded_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM memory AS m
                  WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.id = s.superseded_by)
  AND NOT EXISTS (SELECT 1 FROM tombstone AS t
                  WHERE t.namespace = s.namespace AND t.user_id = s.user_id AND t.id = s.superseded_by)

-- name: broken_revisions
-- scope: upkeep
SELECT id FROM memory GROUP BY namespace, user_id, id
HAVING count(*) FILTER (WHERE unrecorded_at IS NULL) <> 1 OR max(rev) <> count(*)

-- name: changes_of_messages_lost
-- scope: upkeep
SELECT m.id FROM message AS m
WHERE NOT EXISTS (SELECT 1 FROM change AS c
                  WHERE c.namespace = m.namespace AND c.user_id = m.user_id AND c.id = m.change_id)

-- name: session_counters_behind
-- scope: upkeep
SELECT s.id FROM session AS s
WHERE s.last_seq < (SELECT max(m.seq) FROM message AS m
                    WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.session_id = s.session_id)

-- name: owner_counters_behind
-- scope: upkeep
SELECT o.namespace FROM owner AS o
WHERE o.documents <= max(
    ifnull((SELECT max(number) FROM message AS m WHERE m.namespace = o.namespace AND m.user_id = o.user_id), -1),
    ifnull((SELECT max(number) FROM memory AS m WHERE m.namespace = o.namespace AND m.user_id = o.user_id), -1))
  OR o.sessions < (SELECT max(number) FROM session AS s WHERE s.namespace = o.namespace AND s.user_id = o.user_id)
  OR typeof(o.documents) <> 'integer' OR typeof(o.sessions) <> 'integer'

-- name: change_counters_behind
-- scope: upkeep
SELECT c.namespace FROM change AS c LEFT JOIN namespace AS n ON n.namespace = c.namespace
GROUP BY c.namespace HAVING max(c.seq) > ifnull(n.change_seq, 0) OR typeof(n.change_seq) IN ('blob', 'text')

-- name: owners_missing
-- scope: upkeep
SELECT DISTINCT m.namespace FROM (SELECT namespace, user_id FROM message UNION SELECT namespace, user_id FROM memory) AS m
WHERE NOT EXISTS (SELECT 1 FROM owner AS o WHERE o.namespace = m.namespace AND o.user_id = m.user_id)

-- name: agents_missing
-- scope: upkeep
SELECT DISTINCT m.namespace
FROM (SELECT namespace, user_id, agent_id FROM message UNION SELECT namespace, user_id, agent_id FROM memory
  WHERE unrecorded_at IS NULL) AS m
WHERE m.agent_id <> '' AND NOT EXISTS (SELECT 1 FROM agent AS a
  WHERE a.namespace = m.namespace AND a.user_id = m.user_id AND a.agent_id = m.agent_id)

-- name: rows_ahead
-- scope: upkeep
SELECT (SELECT count(*) FROM message WHERE recorded_at > :until) + (SELECT count(*) FROM memory WHERE recorded_at > :until)
  + (SELECT count(*) FROM change WHERE at > :until)

-- name: applied_migrations
-- scope: upkeep
SELECT number, sha256 FROM migration ORDER BY number

-- name: schema_texts
-- scope: upkeep
SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'

-- name: revoked_tokens
-- scope: upkeep
SELECT id, revoked_at FROM token WHERE revoked_at IS NOT NULL
