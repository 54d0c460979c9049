// Find the client that a token belongs to, unless it is revoked or has expired.
// Why: each request asks anew, so that a revocation holds from the next call on.
// @mode read
// @param token_hash STRING
// @param now ZONED DATETIME     a token is good until just before it expires
// @rows maybe   client_id STRING, service_id STRING, process_type STRING, scope STRING, capabilities LIST<STRING>, trust_level INTEGER
// @sample {"token_hash": "00", "now": null}
CYPHER 25
MATCH (client:Client {token_hash: $token_hash})
WHERE client.revoked_at IS NULL
  AND (client.expires_at IS NULL OR $now < client.expires_at)
RETURN client.id AS client_id,
       client.service_id AS service_id,
       client.process_type AS process_type,
       client.scope AS scope,
       client.capabilities AS capabilities,
       client.trust_level AS trust_level
