// Read the atoms of a packet: their newest bodies, and pointers to the evidence that the caller may see.
// Why: evidence has a policy of its own, whose class is asked for like an atom's.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>      access classes that the caller may see
// @param cited LIST<STRING>        those of which the caller may know what their records rest on
// @param evidence_max INTEGER      pointers of one atom
// @rows many   id STRING, body STRING, event_id STRING, state_key STRING, evidence LIST<MAP>, numbers MAP, cited BOOLEAN
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"], "cited": ["c"], "evidence_max": 10}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
MATCH (v:Version {shard: $shard, ref: id, version: a.version})
RETURN id,
       v.body AS body,
       a.last_write_event_id AS event_id,
       a.state_key AS state_key,
       COLLECT {
         MATCH (a)-[:EVIDENCED_BY]->(e:Evidence)
         WHERE e.access_class IN $classes AND a.access_class IN $cited
         ORDER BY e.evidence_id
         LIMIT $evidence_max
         RETURN e {.evidence_id, .source_type, .source_ref, .captured_at, .checksum}
       } AS evidence,
       a {.utility, .salience} AS numbers,
       a.access_class IN $cited AS cited
