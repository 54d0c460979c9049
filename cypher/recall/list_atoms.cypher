// List atoms in order of creation, one page after a position.
// @mode read
// @param shard STRING
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
// @sample {"shard": "t/w", "classes": ["c"], "after_created": null, "after_id": "", "states": [], "types": [], "health": [], "subjects": [], "relation": null, "valid_at": null, "limit": 10}
CYPHER 25
MATCH (a:Atom {shard: $shard})
USING INDEX a:Atom(shard, created_at)
WHERE a.created_at >= $after_created
  AND CASE a.created_at WHEN $after_created THEN a.id > $after_id ELSE true END
  AND a.access_class IN $classes
  AND (size($states) = 0 OR a.lifecycle_state IN $states)
  AND (size($types) = 0 OR a.type IN $types)
  AND (size($health) = 0 OR a.health_status IN $health)
  AND (size($subjects) = 0 OR a.subject IN $subjects)
  AND ($relation IS NULL OR a.relation = $relation)
  AND ($valid_at IS NULL OR (coalesce(a.valid_from <= $valid_at, true) AND coalesce($valid_at < a.valid_until, true)))
RETURN a.id AS id,
       a.created_at AS created_at,
       a.version AS version,
       a.state_key AS state_key,
       a.access_class AS access_class,
       a.last_write_event_id AS event_id
ORDER BY a.shard, a.created_at, a.id
LIMIT $limit
