// Bind idempotency keys to the accepted results of commands that wrote no event.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     scope_key, payload_digest, result (canonical JSON), graph_version, operation, recorded_at, title
// @rows none
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
CREATE (r:Receipt {shard: $shard})
SET r += row,
    r.recorded_at = datetime(row.recorded_at)
