// Count what a shard holds and where its head points.
// @mode read
// @param shard STRING
// @rows maybe   store_id STRING, graph_version INTEGER, head_hash STRING, events INTEGER, newest INTEGER?, heads LIST<MAP>, accepted_at STRING?, versions INTEGER, version_count INTEGER, body_bytes INTEGER
// @sample {"shard": "t/w"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
RETURN j.store_id AS store_id,
       j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       COUNT { MATCH (e:Event {shard: $shard}) WHERE e.graph_version IS NOT NULL } AS events,
       head(COLLECT { MATCH (e:Event {shard: $shard}) WHERE e.graph_version IS NOT NULL RETURN max(e.graph_version) }) AS newest,
       COLLECT { MATCH (j)-[:HEAD]->(e:Event) RETURN {checksum: e.checksum, accepted_at: e.accepted_at} } AS heads,
       j.accepted_at AS accepted_at,
       COUNT { MATCH (v:Version {shard: $shard}) WHERE v.ref IS NOT NULL AND v.version IS NOT NULL } AS versions,
       j.version_count AS version_count,
       j.body_bytes AS body_bytes
