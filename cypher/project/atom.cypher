// Bring atoms to their newest versions: properties, labels, links to entities, names, evidence and Version.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>        id, version, labels, other_labels, properties, times, evidence, entities, mentions
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (a:Atom {shard: $shard, id: row.id})
SET a = row.properties
FOREACH (name IN keys(row.times) | SET a[name] = datetime(row.times[name]))
REMOVE a:$(row.other_labels)
SET a:$(row.labels)
WITH a, row
CALL (a) {
  MATCH (a)-[link:REFERS_TO|MENTIONS|EVIDENCED_BY]->()
  DELETE link
}
CALL (a, row) {
  UNWIND row.evidence AS evidence_id
  MATCH (e:Evidence {shard: $shard, evidence_id: evidence_id})
  CREATE (a)-[:EVIDENCED_BY]->(e)
}
CALL (a, row) {
  UNWIND row.entities AS entity
  MATCH (n:Entity {shard: $shard, id: entity.id})
  CREATE (a)-[:REFERS_TO {role: entity.role}]->(n)
}
CALL (a, row) {
  UNWIND row.mentions AS mention
  MERGE (n:Name {shard: $shard, name: mention.name})
  CREATE (a)-[m:MENTIONS]->(n)
  SET m = mention.link
}
MATCH (v:Version {shard: $shard, ref: row.id, version: row.version})
CREATE (v)-[:OF]->(a)
RETURN count(*) AS projected
