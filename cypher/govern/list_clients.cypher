// List the clients of a shard, newest first, without their token hashes.
// @mode read
// @param shard STRING
// @param limit INTEGER
// @rows many   client_id STRING, service_id STRING, scope STRING, capabilities LIST<STRING>, created_at STRING, expires_at STRING?, revoked_at STRING?
// @sample {"shard": "t/w", "limit": 100}
CYPHER 25
MATCH (client:Client {shard: $shard})
WHERE client.id IS NOT NULL
RETURN client.id AS client_id,
       client.service_id AS service_id,
       client.scope AS scope,
       client.capabilities AS capabilities,
       toString(client.created_at) AS created_at,
       toString(client.expires_at) AS expires_at,
       toString(client.revoked_at) AS revoked_at
ORDER BY client.created_at DESC, client.id
LIMIT $limit
