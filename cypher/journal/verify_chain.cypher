// Read a page of the chain for verification: each event, what points at it, and what it wrote.
// @mode read
// @param shard STRING
// @param after INTEGER
// @param upto INTEGER
// @param limit INTEGER
// @rows many   event MAP, labels LIST<STRING>, previous LIST<INTEGER>, writes LIST<MAP>
// @sample {"shard": "t/w", "after": 0, "upto": 10, "limit": 10}
CYPHER 25
MATCH (e:Event {shard: $shard})
WHERE e.graph_version > $after
  AND e.graph_version <= $upto
WITH e
ORDER BY e.graph_version
LIMIT $limit
RETURN properties(e) AS event,
       labels(e) AS labels,
       COLLECT {
         MATCH (earlier:Event)-[:NEXT]->(e)
         RETURN earlier.graph_version
       } AS previous,
       COLLECT {
         MATCH (e)-[:WROTE]->(v:Version)
         RETURN {properties: properties(v), labels: labels(v)}
       } AS writes
ORDER BY e.graph_version
