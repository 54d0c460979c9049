// List the checksums of a page of events, to compare with another copy of the chain.
// @mode read
// @param shard STRING
// @param after INTEGER
// @param limit INTEGER
// @rows many   graph_version INTEGER, checksum STRING
// @sample {"shard": "t/w", "after": 0, "limit": 10}
CYPHER 25
MATCH (e:Event {shard: $shard})
WHERE e.graph_version > $after
RETURN e.graph_version AS graph_version,
       e.checksum AS checksum
ORDER BY e.graph_version
LIMIT $limit
