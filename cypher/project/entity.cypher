// Bring entities to their newest versions, each with its link to the one that it was merged into.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     id, version, properties
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (n:Entity {shard: $shard, id: row.id})
SET n = row.properties
WITH n, row
MATCH (v:Version {shard: $shard, ref: row.id, version: row.version})
CREATE (v)-[:OF]->(n)
WITH n, row
CALL (n) {
  MATCH (n)-[link:MERGED_INTO]->()
  DELETE link
}
CALL (n, row) {
  MATCH (into:Entity {shard: $shard, id: row.properties.merged_into})
  CREATE (n)-[:MERGED_INTO]->(into)
}
RETURN count(*) AS projected
