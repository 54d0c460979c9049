// Forget a shard's manifests that are too old, or more than are kept, the oldest first.
// Why: the caller holds the shard's lock, so no outcome counts on one of them meanwhile.
// @mode write
// @param shard STRING
// @param before ZONED DATETIME     those that were kept before are too old
// @param keep INTEGER              how many are kept, the newest ones
// @rows one   forgotten INTEGER
// @sample {"shard": "t/w", "before": null, "keep": 10}
CYPHER 25
CALL () {
  MATCH (m:PacketManifest {shard: $shard})
  WHERE m.kept_at < $before
  RETURN m
  UNION
  MATCH (m:PacketManifest {shard: $shard})
  WHERE m.kept_at IS NOT NULL
  WITH m
  ORDER BY m.shard DESC, m.kept_at DESC
  SKIP $keep
  RETURN m
}
DELETE m
RETURN count(*) AS forgotten
