// List the adjudications of a subject as it is worded now, with the time at which the journal took each in.
// Why: what an adjudication says of its own time is a claim; intervals are those of the journal. A judgment
// of an earlier wording is a judgment of something else; that a proposal was deferred changes no word of it.
// @mode read
// @param shard STRING
// @param subject_ref STRING
// @param classes LIST<STRING>?     access classes that the caller may see; null for all
// @param limit INTEGER
// @rows many   ref STRING, recorded_at ZONED DATETIME, body STRING
// @sample {"shard": "t/w", "subject_ref": "a", "classes": null, "limit": 100}
CYPHER 25
MATCH (event:Event)-[:WROTE]->(wording:Version {shard: $shard, ref: $subject_ref})
WHERE wording.version > 0
  AND NOT event.event_type IN ['proposal_resolved', 'proposal_ratified', 'constitutional_record_replaced', 'constitution_founded']
WITH max(wording.recorded_at) AS worded_at
CALL (worded_at) {
  MATCH (a:Adjudication {shard: $shard, subject_ref: $subject_ref})
  WHERE a.lifecycle_state = 'active'
    AND ($classes IS NULL OR a.access_class IN $classes)
  MATCH (first:Version {shard: a.shard, ref: a.id, version: 1})
  WHERE first.recorded_at >= worded_at
  MATCH (v:Version {shard: a.shard, ref: a.id, version: a.version})
  RETURN a.id AS ref,
         first.recorded_at AS recorded_at,
         v.body AS body
}
RETURN ref, recorded_at, body
ORDER BY recorded_at, ref
LIMIT $limit
