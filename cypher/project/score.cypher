// Bring scores to their newest versions, and the numbers of the atoms and edges that they are of.
// Why: a score holds for one version of its record; while a journal is written anew, a later one may be there.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     id, version, properties, times, type (relationship type of an edge's relation, else empty)
// @rows one   projected INTEGER
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (s:Score {shard: $shard, id: row.id})
SET s = row.properties
FOREACH (name IN keys(row.times) | SET s[name] = datetime(row.times[name]))
WITH s, row
CALL (s) {
  MATCH (a:Atom {shard: $shard, id: s.of_ref})
  WHERE a.version = s.of_version
  SET a.utility = s.utility,
      a.salience = s.salience
}
CALL (s, row) {
  MATCH (e:Edge {shard: $shard, edge_id: s.of_ref})
  WHERE e.version = s.of_version
  SET e.weight = s.weight
  WITH e, row
  MATCH (a:Atom {shard: $shard, id: e.source_ref})
  WITH e, row, a
  MATCH (b:Atom {shard: $shard, id: e.target_ref})
  MATCH (a)-[r:$(row.type) {edge_id: e.edge_id}]->(b)
  SET r.weight = e.weight
}
MATCH (v:Version {shard: $shard, ref: row.id, version: row.version})
CREATE (v)-[:OF]->(s)
RETURN count(*) AS projected
