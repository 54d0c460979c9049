// The same nodes and relationships in one transaction, without journal, index or look-up.
// Why: new nodes are kept in a list and joined by position, since a look-up would need an index.
CYPHER 25
CALL () {
  UNWIND $nodes AS row
  CREATE (n:BenchRaw)
  SET n = row
  RETURN collect(n) AS made
}
UNWIND $edges AS row
WITH made[row.source] AS a, made[row.target] AS b, row
CREATE (a)-[r:BENCH_RAW]->(b)
SET r = row.properties
