// Find the active or proposed atoms that already say the same, to the same audience.
// @mode read
// @param shard STRING
// @param digests LIST<STRING>
// @param states LIST<STRING>      lifecycle states that count
// @rows many   content_digest STRING, atom_id STRING
// @sample {"shard": "t/w", "digests": ["d"], "states": ["active"]}
CYPHER 25
UNWIND $digests AS content_digest
MATCH (a:Atom {shard: $shard, content_digest: content_digest})
WHERE a.lifecycle_state IN $states
  AND a.state_key <> 'superseded'
RETURN content_digest,
       min(a.id) AS atom_id
