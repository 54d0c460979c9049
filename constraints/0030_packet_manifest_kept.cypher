// The oldest manifests of a shard are forgotten first.
CYPHER 25
CREATE INDEX packet_manifest_kept IF NOT EXISTS
FOR (n:PacketManifest)
ON (n.shard, n.kept_at)
