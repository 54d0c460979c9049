// Where a shard stands, and the canonical bytes of all bodies that it ever wrote.
CYPHER 25
MATCH (j:Journal {shard: $shard})
RETURN j.graph_version AS graph_version,
       j.body_bytes AS body_bytes
