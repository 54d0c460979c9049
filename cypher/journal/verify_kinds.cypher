// List the nodes of a shard that bear a label of atoms only and are none.
// Why: no index has them, so this looks at every node with such a label; `count_labelled` tells whether to.
// @mode read
// @param shard STRING
// @param kinds LIST<STRING>      labels that only an Atom bears
// @param limit INTEGER
// @rows many   kind STRING, label STRING, ref STRING?
// @sample {"shard": "t/w", "kinds": ["Live", "Belief"], "limit": 10}
CYPHER 25
MATCH (n:$any($kinds))
WHERE n.shard = $shard
  AND NOT n:Atom
WITH labels(n)[0] AS label, coalesce(n.id, n.title) AS ref
RETURN 'stray_node' AS kind,
       label,
       CASE WHEN ref IS :: STRING THEN ref END AS ref
ORDER BY label, ref
LIMIT $limit
