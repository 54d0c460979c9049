// Write the vectors of atoms, and bring what filters them up to date; refused to a worker without the lease.
// Why: an atom's vector is a node of its own, so that a commit neither waits for it nor pays for the index.
// @mode write
// @param shard STRING
// @param worker STRING
// @param embedding_model STRING
// @param quantization STRING
// @param rows LIST<MAP>      ref, version, embedding (null for a text that says nothing), squares, fresh
// @rows one   outcome STRING, embedding_model STRING?
// @outcome written | refused
// @sample {"shard": "t/w", "worker": "x", "embedding_model": "m", "quantization": "int8", "rows": []}
CYPHER 25
MATCH (m:IndexMark {shard: $shard})
SET m.lock_token = $worker
WITH m, coalesce(m.worker = $worker AND m.embedding_model = $embedding_model, false) AS mine
CALL (mine) {
  UNWIND CASE WHEN mine THEN $rows ELSE [] END AS row
  MATCH (a:Atom {shard: $shard, id: row.ref})
  MERGE (e:Embedding {shard: $shard, ref: row.ref})
  SET e.access_class = a.access_class,
      e.state_key = a.state_key
  FOREACH (_ IN CASE WHEN row.fresh THEN [1] ELSE [] END |
    SET e.embedding = row.embedding,
        e.squares = row.squares,
        e.version = row.version,
        e.embedding_model = $embedding_model,
        e.quantization = $quantization,
        e.title = 'vector of ' + row.ref)
}
RETURN CASE WHEN mine THEN 'written' ELSE 'refused' END AS outcome,
       m.embedding_model AS embedding_model
