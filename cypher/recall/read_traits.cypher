// Read what atoms are scored by; the numbers come from stored data, never from an index.
// Why: one row for all, and times as microseconds, since a message for each atom costs more than its reading.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>         access classes that the caller may see
// @rows one   traits LIST<LIST<ANY>>
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"]}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
CALL (a) {
  MATCH (a)-[r:CONTRADICTS]-(b:Atom)
  WHERE r.access_class IN $classes
    AND b.access_class IN $classes
  RETURN count(*) AS contradictions
}
RETURN collect([
  id,
  a.type,
  a.state_key,
  a.health_status,
  a.health_flags,
  a.confidence_score,
  a.utility,
  a.salience,
  a.updated_at.epochSeconds * 1000000 + a.updated_at.microsecond,
  a.valid_from.epochSeconds * 1000000 + a.valid_from.microsecond,
  a.valid_until.epochSeconds * 1000000 + a.valid_until.microsecond,
  contradictions,
  a.search_text
]) AS traits
