// List nodes of the whole store that bear none of its labels, or belong to no shard that has a journal.
// @mode read
// @param labels LIST<STRING>      every label that the store is built of
// @param unsharded LIST<STRING>   those that stand outside every shard
// @param limit INTEGER
// @rows many   label STRING, ref STRING?
// @sample {"labels": ["Atom"], "unsharded": ["Migration"], "limit": 10}
CYPHER 25
MATCH (n)
WHERE NOT n:$any($labels)
   OR (NOT n:$any($unsharded) AND NOT EXISTS { (:Journal {shard: n.shard}) })
RETURN coalesce(labels(n)[0], '') AS label,
       coalesce(toStringOrNull(n.id), toStringOrNull(n.title)) AS ref
ORDER BY label, ref
LIMIT $limit
