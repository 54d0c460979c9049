// Let activation spread from seeds over at most two associations, and tell by which way it came.
// Why: an atom keeps the strongest activation, so that one path explains it; degree, fan-out and frontier count
// only what the caller may see. b is an atom since only atoms are associated; a label would invite a scan.
// @mode read
// @param shard STRING
// @param seeds LIST<MAP>         id, seed (the same id), activation, path (empty)
// @param classes LIST<STRING>    access classes that the caller may see
// @param targeted LIST<STRING>   those of them whose policy names the processor
// @param states LIST<STRING>     state keys that are let in beside :Live
// @param at ZONED DATETIME       the instant that the packet speaks of
// @param asked LIST<STRING>      relationship types that the cues ask for: their steps share among themselves
// @param decay FLOAT             what one step leaves of the activation
// @param fan_out INTEGER         strongest steps that one atom takes
// @param frontier INTEGER        strongest atoms that take a second step
// @param limit INTEGER           strongest atoms that are told
// @rows one   reached LIST<LIST<ANY>>
// @sample {"shard": "t/w", "seeds": [], "classes": [], "targeted": [], "states": [], "at": null, "asked": ["REQUIRES"], "decay": 0.5, "fan_out": 5, "frontier": 5, "limit": 5}
CYPHER 25
CALL () {
  UNWIND $seeds AS start
  MATCH (a:Atom {shard: $shard, id: start.id})
  MATCH (a)-[r:!(REFERS_TO|EVIDENCED_BY|OF|SUPERSEDES|DERIVED_FROM|SUMMARIZES|ADJUDICATES|INVOKES|INHIBITS)]-(b)
  WHERE r.access_class IN $classes AND b.access_class IN $classes AND r.weight * r.confidence > 0
    AND (b:Live OR b.state_key IN $states)
    AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
    AND (b.state_key = 'superseded' OR coalesce(b.valid_from <= $at, true) AND coalesce($at < b.valid_until, true))
  WITH start, a, r, b.id AS id, r.weight * r.confidence AS strength, type(r) IN $asked AS asked
  ORDER BY asked DESC, strength DESC, id, r.edge_id
  WITH start, a, collect({id: id, strength: strength, via: r, asked: asked}) AS steps, count(CASE WHEN asked THEN r END) AS asked_for
  UNWIND [s IN steps WHERE s.id <> start.seed][..$fan_out] AS s
  WITH s.id AS id, start.seed AS seed, start.path + [{edge_id: s.via.edge_id, relation: 'rel:' + toLower(type(s.via)),
         source: start.id, target: s.id, along: startNode(s.via) = a}] AS path,
       start.activation * s.strength * $decay / sqrt(CASE WHEN s.asked THEN asked_for ELSE size(steps) END) AS activation
  ORDER BY activation DESC, seed, [step IN path | step.edge_id]
  WITH id, collect({id: id, seed: seed, activation: activation, path: path})[0] AS best
  ORDER BY best.activation DESC, id
  RETURN collect(best) AS near
}
CALL (near) {
  UNWIND near[..$frontier] AS start
  MATCH (a:Atom {shard: $shard, id: start.id})
  MATCH (a)-[r:!(REFERS_TO|EVIDENCED_BY|OF|SUPERSEDES|DERIVED_FROM|SUMMARIZES|ADJUDICATES|INVOKES|INHIBITS)]-(b)
  WHERE r.access_class IN $classes AND b.access_class IN $classes AND r.weight * r.confidence > 0
    AND (b:Live OR b.state_key IN $states)
    AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
    AND (b.state_key = 'superseded' OR coalesce(b.valid_from <= $at, true) AND coalesce($at < b.valid_until, true))
  WITH start, a, r, b.id AS id, r.weight * r.confidence AS strength, type(r) IN $asked AS asked
  ORDER BY asked DESC, strength DESC, id, r.edge_id
  WITH start, a, collect({id: id, strength: strength, via: r, asked: asked}) AS steps, count(CASE WHEN asked THEN r END) AS asked_for
  UNWIND [s IN steps WHERE s.id <> start.seed][..$fan_out] AS s
  RETURN collect({id: s.id, seed: start.seed, path: start.path + [{edge_id: s.via.edge_id,
    relation: 'rel:' + toLower(type(s.via)), source: start.id, target: s.id, along: startNode(s.via) = a}],
    activation: start.activation * s.strength * $decay / sqrt(CASE WHEN s.asked THEN asked_for ELSE size(steps) END)}) AS far
}
UNWIND near + far AS reached
WITH reached
ORDER BY reached.activation DESC, size(reached.path), reached.seed, [step IN reached.path | step.edge_id]
WITH reached.id AS id, collect(reached)[0] AS best
ORDER BY best.activation DESC, id LIMIT $limit
RETURN collect([id, best.activation, best.seed, best.path]) AS reached
