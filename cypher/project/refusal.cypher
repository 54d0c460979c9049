// Bring refusals to their newest versions.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     id, version, properties, times
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (n:Refusal {shard: $shard, id: row.id})
SET n = row.properties
FOREACH (name IN keys(row.times) | SET n[name] = datetime(row.times[name]))
WITH n, row
MATCH (v:Version {shard: $shard, ref: row.id, version: row.version})
CREATE (v)-[:OF]->(n)
RETURN count(*) AS projected
