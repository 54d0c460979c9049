// List the atoms that refer to an entity in order of creation, one page after a position.
// Why: the way from the entity, by each id that stands for it, reads what is about it and not the shard.
// @mode read
// @param shard STRING
// @param about LIST<STRING>            entities: an atom refers to one of them
// @param also LIST<STRING>             further ones, of which it refers to one too; empty for no such filter
// @param classes LIST<STRING>          access classes that the caller may see
// @param after_created ZONED DATETIME  position: created_at and id of the last atom seen
// @param after_id STRING
// @param states LIST<STRING>           lifecycle states; empty for all
// @param types LIST<STRING>            atom types; empty for all
// @param health LIST<STRING>           health statuses; empty for all
// @param subjects LIST<STRING>         values of the subject; empty for all
// @param relation STRING?
// @param valid_at ZONED DATETIME?
// @param limit INTEGER
// @rows many   id STRING, created_at ZONED DATETIME, version INTEGER, state_key STRING, access_class STRING, event_id STRING
// @sample {"shard": "t/w", "about": ["ent:a:b"], "also": [], "classes": ["c"], "after_created": null, "after_id": "", "states": [], "types": [], "health": [], "subjects": [], "relation": null, "valid_at": null, "limit": 10}
CYPHER 25
UNWIND $about AS entity_id
MATCH (:Entity {shard: $shard, id: entity_id})<-[:REFERS_TO]-(a:Atom)
WITH DISTINCT a
WHERE a.created_at >= $after_created
  AND CASE a.created_at WHEN $after_created THEN a.id > $after_id ELSE true END
  AND a.access_class IN $classes
  AND (size($states) = 0 OR a.lifecycle_state IN $states)
  AND (size($types) = 0 OR a.type IN $types)
  AND (size($health) = 0 OR a.health_status IN $health)
  AND (size($subjects) = 0 OR a.subject IN $subjects)
  AND ($relation IS NULL OR a.relation = $relation)
  AND (size($also) = 0 OR EXISTS { (a)-[:REFERS_TO]->(e:Entity WHERE e.id IN $also) })
  AND ($valid_at IS NULL OR (coalesce(a.valid_from <= $valid_at, true) AND coalesce($valid_at < a.valid_until, true)))
RETURN a.id AS id,
       a.created_at AS created_at,
       a.version AS version,
       a.state_key AS state_key,
       a.access_class AS access_class,
       a.last_write_event_id AS event_id
ORDER BY created_at, id
LIMIT $limit
