// List the schema statements that were applied to this store.
// @mode read
// @param limit INTEGER
// @rows many   name STRING, sha256 STRING
// @sample {"limit": 1000}
CYPHER 25
MATCH (m:Migration)
RETURN m.name AS name, m.sha256 AS sha256
ORDER BY m.name
LIMIT $limit
