// Bind idempotency keys to the accepted results of their commands.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     scope_key, payload_digest, result (canonical JSON), graph_version, operation, recorded_at
// @rows none
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
CREATE (:Receipt {
  shard: $shard,
  scope_key: row.scope_key,
  payload_digest: row.payload_digest,
  result: row.result,
  graph_version: row.graph_version,
  operation: row.operation,
  recorded_at: row.recorded_at,
  title: row.operation + ' ' + toString(row.graph_version)
})
