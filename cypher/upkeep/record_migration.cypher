// Record that a schema statement was applied, with the digest of its text.
// @mode write
// @param name STRING
// @param sha256 STRING
// @rows none
// @sample {"name": "0001_example", "sha256": "00"}
CYPHER 25
MERGE (m:Migration {name: $name})
SET m.sha256 = $sha256,
    m.title = $name,
    m.applied_at = datetime()
