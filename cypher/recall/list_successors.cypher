// List what took the place of superseded atoms, over as many supersessions as it took.
// Why: an atom has one successor at a time, so the way is a line; what the words of a cue gave to the
// superseded one is meant for what stands in its place.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>      access classes that the caller may see
// @param targeted LIST<STRING>     those of them whose policy names the processor
// @param states LIST<STRING>       state keys that are let in beside :Live
// @param at ZONED DATETIME         the instant that the packet speaks of
// @param limit INTEGER             ways that are told of one atom
// @rows many   id STRING, successor STRING, confidence FLOAT, steps LIST<MAP>
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"], "targeted": [], "states": [], "at": null, "limit": 10}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
CALL (a) {
  MATCH way = (a)((older:Atom)<-[r:SUPERSEDES]-(newer:Atom)
    WHERE r.access_class IN $classes AND newer.access_class IN $classes){1, 50}(b:Atom)
  WHERE (b:Live OR b.state_key IN $states)
    AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
    AND (b.state_key = 'superseded' OR coalesce(b.valid_from <= $at, true) AND coalesce($at < b.valid_until, true))
  RETURN b.id AS successor,
         reduce(product = 1.0, each IN r | product * each.confidence) AS confidence,
         [i IN range(0, size(r) - 1) | {edge_id: r[i].edge_id, source: older[i].id, target: newer[i].id}] AS steps
  ORDER BY length(way), successor
  LIMIT $limit
}
RETURN id,
       successor,
       confidence,
       steps
ORDER BY id, size(steps)
