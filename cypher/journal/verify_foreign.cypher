// List nodes of the whole store that bear none of its labels.
// @mode read
// @param labels LIST<STRING>      every label that the store is built of
// @param limit INTEGER
// @rows many   label STRING, ref STRING?
// @sample {"labels": ["Atom"], "limit": 10}
CYPHER 25
MATCH (n)
WHERE NOT n:$any($labels)
RETURN coalesce(labels(n)[0], '') AS label,
       coalesce(toString(n.id), toString(n.title)) AS ref
ORDER BY label, ref
LIMIT $limit
