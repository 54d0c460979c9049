// List a page of receipts in the order of the versions that they tell of.
// @mode read
// @param shard STRING
// @param after_version INTEGER   version and key of the last receipt of the page before
// @param after_key STRING
// @param upto INTEGER
// @param limit INTEGER
// @rows many   scope_key STRING, payload_digest STRING, result STRING, graph_version INTEGER, operation STRING, recorded_at ZONED DATETIME
// @sample {"shard": "t/w", "after_version": 0, "after_key": "", "upto": 10, "limit": 10}
CYPHER 25
MATCH (r:Receipt {shard: $shard})
WHERE r.graph_version >= $after_version
  AND r.graph_version <= $upto
  AND (r.graph_version > $after_version OR r.scope_key > $after_key)
RETURN r.scope_key AS scope_key,
       r.payload_digest AS payload_digest,
       r.result AS result,
       r.graph_version AS graph_version,
       r.operation AS operation,
       r.recorded_at AS recorded_at
ORDER BY r.graph_version, r.scope_key
LIMIT $limit
