// Say that a shard's vectors reach a version, and its counts of words another; only the worker that holds it.
// Why: a transaction of its own, after the vectors' was answered, so that whoever reads the mark finds
// them in the index: Neo4j shows a commit piece by piece while it is applied.
// @mode write
// @param shard STRING
// @param worker STRING
// @param embedding_model STRING
// @param indexed INTEGER
// @param counted INTEGER
// @param leased_until INTEGER     milliseconds since 1970
// @rows one   outcome STRING
// @outcome moved | lost
// @sample {"shard": "t/w", "worker": "x", "embedding_model": "m", "indexed": 1, "counted": 1, "leased_until": 0}
CYPHER 25
MATCH (m:IndexMark {shard: $shard})
SET m.lock_token = $worker
WITH m, m.worker = $worker AND m.embedding_model = $embedding_model AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END |
  SET m.graph_version = $indexed, m.counted_version = $counted, m.leased_until = $leased_until)
RETURN CASE WHEN mine THEN 'moved' ELSE 'lost' END AS outcome
