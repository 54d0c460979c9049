// List the atoms that live ones hold back, by the summed confidence of what inhibits them.
// Why: an inhibition passes no activation, so its weight says nothing; what is not live holds nothing back.
// @title Most inhibited
// @purpose Finds the memories that others hold back the most, and what holds them back.
// @mode read
// @param shard STRING       tenant/workspace
// @param limit INTEGER      rows at most
// @rows many   atom_id STRING, type STRING, title STRING, state_now STRING, holders INTEGER, strength FLOAT, held_back_by LIST<STRING>
// @sample {"shard": "default/main", "limit": 50}
CYPHER 25
// The planner may think a scan of the relationship type, over all shards, to be cheaper.
MATCH (edge:Edge {shard: $shard})
USING INDEX edge:Edge(shard, target_ref)
WHERE edge.target_ref IS NOT NULL
  AND edge.relation = 'rel:inhibits'
  AND edge.lifecycle_state = 'active'
MATCH (held:Atom {shard: $shard, id: edge.target_ref})
USING INDEX held:Atom(shard, id)
MATCH (held)<-[link:INHIBITS {edge_id: edge.edge_id}]-(holder:Atom&Live)
WITH held, holder, link.confidence AS confidence
ORDER BY confidence DESC, holder.id
WITH held,
     count(*) AS holders,
     round(sum(confidence), 6) AS total,
     collect(holder.id + ' (' + holder.title + ')')[..10] AS held_back_by
RETURN held.id AS atom_id,
       held.type AS type,
       held.title AS title,
       held.state_key AS state_now,
       holders,
       total AS strength,
       held_back_by
ORDER BY strength DESC, holders DESC, atom_id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
