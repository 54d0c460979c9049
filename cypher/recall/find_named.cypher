// Find the atoms that a cue names: by id, or by an entity that they refer to, newest first.
// @mode read
// @param shard STRING
// @param atom_ids LIST<STRING>
// @param entity_ids LIST<STRING>
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param states LIST<STRING>          state keys that are let in
// @param at ZONED DATETIME            the instant that the packet speaks of
// @param types LIST<STRING>           atom types; empty for all
// @param payload_filter MAP           lifted property → the values of which it must have one
// @param limit INTEGER                atoms of one entity that are proposed
// @rows many   ref STRING, ids LIST<STRING>, scanned INTEGER
// @sample {"shard": "t/w", "atom_ids": ["a"], "entity_ids": ["ent:a:b"], "classes": ["c"], "targeted": [], "states": ["live"], "at": null, "types": [], "payload_filter": {}, "limit": 10}
CYPHER 25
CALL () {
  UNWIND $atom_ids AS ref
  MATCH (a:Atom {shard: $shard, id: ref})
  RETURN ref, a
  UNION
  UNWIND $entity_ids AS ref
  MATCH (:Entity {shard: $shard, id: ref})<-[:REFERS_TO]-(a:Atom)
  RETURN ref, a
}
WITH ref, a
WHERE a.access_class IN $classes
  AND a.state_key IN $states
  AND (a.health_status <> 'privacy_sensitive' OR a.access_class IN $targeted)
  AND CASE a.state_key
    WHEN 'superseded' THEN true
    ELSE coalesce(a.valid_from <= $at, true) AND coalesce($at < a.valid_until, true)
  END
  AND (size($types) = 0 OR a.type IN $types)
  AND all(name IN keys($payload_filter) WHERE coalesce(a[name] IN $payload_filter[name], false))
WITH ref, a.id AS id, a.updated_at AS updated_at
ORDER BY ref, updated_at DESC, id
WITH ref, collect(id) AS ids
RETURN ref,
       ids[..$limit] AS ids,
       size(ids) AS scanned
ORDER BY ref
