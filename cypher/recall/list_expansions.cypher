// List the beliefs by which named entities widen a cue: their instances, and what they are said to relate to.
// Why: a belief counts only where the caller may see it, so that nothing hidden moves a score.
// @mode read
// @param shard STRING
// @param entities LIST<MAP>         ref, ids: an entity that the cue names, and the ids that it stands for
// @param classes LIST<STRING>       access classes that the caller may see
// @param targeted LIST<STRING>      those of them whose policy names the processor
// @param at ZONED DATETIME          the instant that the packet speaks of
// @param instances LIST<STRING>     relations whose subject is an instance, member or part of their object
// @param limit INTEGER              beliefs of one entity, the surest first
// @rows many   ref STRING, beliefs LIST<MAP>
// @sample {"shard": "t/w", "entities": [{"ref": "ent:a:b", "ids": ["ent:a:b"]}], "classes": ["c"], "targeted": [], "at": null, "instances": ["rel:is_a"], "limit": 10}
CYPHER 25
UNWIND $entities AS named
UNWIND named.ids AS id
MATCH (:Entity {shard: $shard, id: id})<-[from:REFERS_TO]-(b:Atom&Live)-[to:REFERS_TO]->(e:Entity)
WHERE b.access_class IN $classes
  AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
  AND coalesce(b.valid_from <= $at, true)
  AND coalesce($at < b.valid_until, true)
  AND NOT e.id IN named.ids
  AND CASE from.role + ' ' + to.role
    WHEN 'object subject' THEN b.relation IN $instances
    WHEN 'subject object' THEN NOT b.relation IN $instances
    ELSE false
  END
WITH DISTINCT named.ref AS ref, b, e, to.role = 'object' AS along
ORDER BY b.confidence_score DESC, b.id, e.id
WITH ref, collect({
  belief: b.id,
  relation: b.relation,
  confidence: b.confidence_score,
  entity: e.id,
  name: e.canonical_name,
  along: along
}) AS beliefs
RETURN ref,
       beliefs[..$limit] AS beliefs
ORDER BY ref
