// Read the newest bodies of the edges that leave or reach the given atoms, in the given states.
// @mode read
// @param shard STRING
// @param atom_ids LIST<STRING>
// @param states LIST<STRING>
// @param limit INTEGER
// @rows many   ref STRING, version INTEGER, event_id STRING, body STRING, numbers MAP
// @sample {"shard": "t/w", "atom_ids": ["a"], "states": ["active"], "limit": 1000}
CYPHER 25
UNWIND $atom_ids AS atom_id
CALL (atom_id) {
  MATCH (e:Edge {shard: $shard, source_ref: atom_id})
  RETURN e
  UNION
  MATCH (e:Edge {shard: $shard, target_ref: atom_id})
  RETURN e
}
WITH DISTINCT e
WHERE e.lifecycle_state IN $states
MATCH (v:Version {shard: $shard, ref: e.edge_id, version: e.version})
RETURN e.edge_id AS ref,
       e.version AS version,
       e.last_write_event_id AS event_id,
       v.body AS body,
       e {.weight} AS numbers
ORDER BY ref
LIMIT $limit
