// Read what a packet held.
// @mode read
// @param shard STRING
// @param id STRING
// @rows maybe   manifest MAP
// @sample {"shard": "t/w", "id": "pkt_0"}
CYPHER 25
MATCH (m:PacketManifest {shard: $shard, id: $id})
RETURN properties(m) AS manifest
