// Take or keep the lease on a shard's vectors; with reset, have them made anew by a model.
// Why: one worker at a time per shard; a worker that died is followed by another once its lease is over.
// A fresh value takes the lock before anything is read.
// @mode write
// @param shard STRING
// @param worker STRING              fresh for each worker
// @param embedding_model STRING
// @param reset BOOLEAN              forget how far the vectors reach, whoever holds the lease
// @param now INTEGER                milliseconds since 1970
// @param lease_ms INTEGER
// @rows one   outcome STRING, indexed INTEGER, counted INTEGER, embedding_model STRING
// @outcome taken | held | other_model
// @sample {"shard": "t/w", "worker": "x", "embedding_model": "m", "reset": false, "now": 0, "lease_ms": 1000}
CYPHER 25
MERGE (m:IndexMark {shard: $shard})
  ON CREATE SET m.graph_version = 0, m.counted_version = 0, m.embedding_model = $embedding_model,
                m.leased_until = 0, m.title = 'vectors of ' + $shard
SET m.lock_token = $worker
WITH m,
     CASE
       WHEN $reset THEN 'taken'
       WHEN m.embedding_model <> $embedding_model THEN 'other_model'
       WHEN m.worker <> $worker AND m.leased_until > $now THEN 'held'
       ELSE 'taken'
     END AS outcome
FOREACH (_ IN CASE WHEN outcome = 'taken' THEN [1] ELSE [] END |
  SET m.worker = $worker, m.leased_until = $now + $lease_ms)
FOREACH (_ IN CASE WHEN $reset THEN [1] ELSE [] END |
  SET m.embedding_model = $embedding_model, m.graph_version = 0, m.counted_version = 0)
RETURN outcome,
       m.graph_version AS indexed,
       m.counted_version AS counted,
       m.embedding_model AS embedding_model
