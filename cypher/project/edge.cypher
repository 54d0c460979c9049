// Bring edges to their newest versions: record, evidence, and the native relationship of an active edge.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     edge_id, version, properties, times, evidence, source_ref, target_ref, type, relationship?
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (e:Edge {shard: $shard, edge_id: row.edge_id})
SET e = row.properties
FOREACH (name IN keys(row.times) | SET e[name] = datetime(row.times[name]))
WITH e, row
CALL (e) {
  MATCH (e)-[link:EVIDENCED_BY]->()
  DELETE link
}
CALL (e, row) {
  UNWIND row.evidence AS evidence_id
  MATCH (source:Evidence {shard: $shard, evidence_id: evidence_id})
  CREATE (e)-[:EVIDENCED_BY]->(source)
}
MATCH (v:Version {shard: $shard, ref: row.edge_id, version: row.version})
CREATE (v)-[:OF]->(e)
WITH row
MATCH (a:Atom {shard: $shard, id: row.source_ref})
WITH row, a
MATCH (b:Atom {shard: $shard, id: row.target_ref})
CALL (a, b, row) {
  MATCH (a)-[r:$(row.type) {edge_id: row.edge_id}]->(b)
  DELETE r
}
CALL (a, b, row) {
  WITH a, b, row
  WHERE row.relationship IS NOT NULL
  CREATE (a)-[r:$(row.type)]->(b)
  SET r = row.relationship
}
RETURN count(*) AS projected
