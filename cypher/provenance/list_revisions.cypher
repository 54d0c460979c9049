// List the versions of a record, newest first: when each was written, by whom, and by which event.
// @mode read
// @param shard STRING
// @param ref STRING
// @param as_of INTEGER
// @param limit INTEGER
// @rows many   version INTEGER, graph_version INTEGER, event_id STRING, event_type STRING, actor STRING, accepted_at ZONED DATETIME
// @sample {"shard": "t/w", "ref": "a", "as_of": 10, "limit": 50}
CYPHER 25
MATCH (v:Version {shard: $shard, ref: $ref})
WHERE v.version > 0 AND v.graph_version <= $as_of
MATCH (e:Event)-[:WROTE]->(v)
RETURN v.version AS version,
       v.graph_version AS graph_version,
       e.event_id AS event_id,
       e.event_type AS event_type,
       e.actor AS actor,
       e.accepted_at AS accepted_at
ORDER BY version DESC
LIMIT $limit
