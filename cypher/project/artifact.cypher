// Bring artifacts to their newest versions: properties, their agent, and what they are told from.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     id, version, properties, times, entities, sources
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (n:Artifact {shard: $shard, id: row.id})
SET n = row.properties
FOREACH (name IN keys(row.times) | SET n[name] = datetime(row.times[name]))
WITH n, row
CALL (n) {
  MATCH (n)-[link:REFERS_TO|TOLD_FROM]->()
  DELETE link
}
CALL (n, row) {
  UNWIND row.entities AS entity
  MATCH (e:Entity {shard: $shard, id: entity.id})
  CREATE (n)-[:REFERS_TO {role: entity.role}]->(e)
}
CALL (n, row) {
  UNWIND row.sources AS source
  MATCH (a:Atom {shard: $shard, id: source.ref})
  CREATE (n)-[:TOLD_FROM {role: source.role, version: source.version}]->(a)
}
CALL (n, row) {
  UNWIND row.sources AS source
  MATCH (e:Evidence {shard: $shard, evidence_id: source.ref})
  CREATE (n)-[:TOLD_FROM {role: source.role, version: source.version}]->(e)
}
MATCH (v:Version {shard: $shard, ref: row.id, version: row.version})
CREATE (v)-[:OF]->(n)
RETURN count(*) AS projected
