// Bind an idempotency key to the accepted result of its command.
// @mode write
// @param shard STRING
// @param scope_key STRING
// @param payload_digest STRING
// @param result STRING         canonical JSON of the receipt
// @param graph_version INTEGER
// @param operation STRING
// @param recorded_at ZONED DATETIME
// @rows none
// @sample {"shard": "t/w", "scope_key": "k", "payload_digest": "d", "result": "{}", "graph_version": 1, "operation": "commit", "recorded_at": null}
CYPHER 25
CREATE (:Receipt {
  shard: $shard,
  scope_key: $scope_key,
  payload_digest: $payload_digest,
  result: $result,
  graph_version: $graph_version,
  operation: $operation,
  recorded_at: $recorded_at,
  title: $operation + ' ' + toString($graph_version)
})
