// Read one event of the chain by its graph version.
// @mode read
// @param shard STRING
// @param graph_version INTEGER
// @rows maybe   event_id STRING, payload STRING
// @sample {"shard": "t/w", "graph_version": 1}
CYPHER 25
MATCH (e:Event {shard: $shard, graph_version: $graph_version})
RETURN e.event_id AS event_id,
       e.payload AS payload
