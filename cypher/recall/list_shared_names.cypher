// List what some atoms speak of together with other atoms: names in their texts, entities, and names of these.
// Why: a name that many atoms speak of joins nothing in particular, so the first atoms beyond common_max
// are enough to know it by; and only what the caller may see is counted, so that nothing hidden moves a
// score. An entity stands for its names and for what it was merged with, two steps far at most.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>        atoms
// @param classes LIST<STRING>    access classes that the caller may see
// @param targeted LIST<STRING>   those of them whose policy names the processor
// @param states LIST<STRING>     state keys that are let in
// @param at ZONED DATETIME       the instant that the packet speaks of
// @param common_max INTEGER      atoms up to which a name joins those that speak of it
// @rows many   key STRING, sources LIST<STRING>, atoms LIST<STRING>
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"], "targeted": [], "states": ["live"], "at": null, "common_max": 30}
CYPHER 25
UNWIND $ids AS id
MATCH (:Atom {shard: $shard, id: id})-[:MENTIONS|REFERS_TO]->(x)
WITH x, collect(DISTINCT id) AS sources
CALL (x) {
  MATCH (x) (()-[:NAMED|MERGED_INTO]-()){0,2} (y)
  WITH DISTINCT y
  MATCH (y)<-[:MENTIONS|REFERS_TO]-(b:Atom)
  WHERE b.access_class IN $classes
    AND b.state_key IN $states
    AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
    AND (b.state_key = 'superseded' OR coalesce(b.valid_from <= $at, true) AND coalesce($at < b.valid_until, true))
  WITH DISTINCT b.id AS other
  LIMIT $common_max + 1
  RETURN collect(other) AS atoms
}
WITH coalesce(x.name, x.id) AS key, sources, atoms
WHERE size(atoms) > 1
RETURN key, sources, atoms
ORDER BY key
