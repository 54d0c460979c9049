// A packet has one manifest.
CYPHER 25
CREATE CONSTRAINT packet_manifest_id IF NOT EXISTS
FOR (n:PacketManifest)
REQUIRE (n.shard, n.id) IS UNIQUE
