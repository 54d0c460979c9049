// Set what ordinary recall makes of atoms whose supersession changed.
// Why: an atom is superseded by a relationship of another record, so its own projection cannot tell.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     id, state_key when not superseded
// @rows none
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MATCH (a:Atom {shard: $shard, id: row.id})
WITH a,
     CASE
       WHEN row.state_key <> a.lifecycle_state AND EXISTS { (a)<-[:SUPERSEDES]-(:Atom) } THEN 'superseded'
       ELSE row.state_key
     END AS state_key
SET a.state_key = state_key
FOREACH (_ IN CASE WHEN state_key = 'live' THEN [1] ELSE [] END | SET a:Live)
FOREACH (_ IN CASE WHEN state_key = 'live' THEN [] ELSE [1] END | REMOVE a:Live)
