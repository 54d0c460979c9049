// List the artifacts of a shard whose time has passed and that nobody has put away, the oldest first.
// @mode read
// @param shard STRING
// @param at ZONED DATETIME
// @param limit INTEGER
// @rows many   id STRING
// @sample {"shard": "t/w", "at": null, "limit": 10}
CYPHER 25
MATCH (n:Artifact {shard: $shard, lifecycle_state: 'active'})
WHERE n.expires_at <= $at
RETURN n.id AS id
ORDER BY n.expires_at, id
LIMIT $limit
