// Forget a shard's raw outcomes that are too old, or more than are kept, the oldest first.
// Why: what they counted stays on the usage, and what they moved in the journal.
// @mode write
// @param shard STRING
// @param before ZONED DATETIME     those that were recorded before are too old
// @param keep INTEGER              how many are kept, the newest ones
// @rows one   forgotten INTEGER
// @sample {"shard": "t/w", "before": null, "keep": 10}
CYPHER 25
CALL () {
  MATCH (o:RetrievalOutcome {shard: $shard})
  WHERE o.created_at < $before
  RETURN o
  UNION
  MATCH (o:RetrievalOutcome {shard: $shard})
  WHERE o.created_at IS NOT NULL
  WITH o
  ORDER BY o.shard DESC, o.created_at DESC
  SKIP $keep
  RETURN o
}
DELETE o
RETURN count(*) AS forgotten
