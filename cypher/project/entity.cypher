// Bring entities to their newest versions, each with its names and what it was merged or split into.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     id, version, properties, times, names
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (n:Entity {shard: $shard, id: row.id})
SET n = row.properties
FOREACH (name IN keys(row.times) | SET n[name] = datetime(row.times[name]))
WITH n, row
MATCH (v:Version {shard: $shard, ref: row.id, version: row.version})
CREATE (v)-[:OF]->(n)
WITH n, row
CALL (n) {
  MATCH (n)-[link:MERGED_INTO|SPLIT_INTO|NAMED]->()
  DELETE link
}
CALL (n, row) {
  MATCH (into:Entity {shard: $shard, id: row.properties.merged_into})
  CREATE (n)-[:MERGED_INTO]->(into)
}
CALL (n, row) {
  UNWIND row.properties.split_into AS part_id
  MATCH (part:Entity {shard: $shard, id: part_id})
  CREATE (n)-[:SPLIT_INTO]->(part)
}
CALL (n, row) {
  UNWIND row.names AS name
  MERGE (named:Name {shard: $shard, name: name})
  CREATE (n)-[:NAMED]->(named)
}
RETURN count(*) AS projected
