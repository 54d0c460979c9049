// Bind idempotency keys to the results that another copy of the shard accepted; those that are there stay.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     scope_key, payload_digest, result, graph_version, operation, recorded_at
// @rows none
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (r:Receipt {shard: $shard, scope_key: row.scope_key})
  ON CREATE SET r += row,
                r.title = row.operation + ' ' + toString(row.graph_version)
