// List the newest atoms that a caller may see, for a request without cues.
// Why: with the shard in its order the index gives the newest first, and reading stops at the limit.
// @mode read
// @param shard STRING
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param states LIST<STRING>          state keys that are let in
// @param at ZONED DATETIME            the instant that the packet speaks of
// @param types LIST<STRING>           atom types; empty for all
// @param payload_filter MAP           lifted property → the values of which it must have one
// @param limit INTEGER
// @rows one   ids LIST<STRING>
// @sample {"shard": "t/w", "classes": ["c"], "targeted": [], "states": ["live"], "at": null, "types": [], "payload_filter": {}, "limit": 10}
CYPHER 25
CALL () {
  MATCH (a:Atom {shard: $shard})
  WHERE a.created_at IS NOT NULL
    AND a.access_class IN $classes
    AND a.state_key IN $states
    AND (a.health_status <> 'privacy_sensitive' OR a.access_class IN $targeted)
    AND CASE a.state_key
      WHEN 'superseded' THEN true
      ELSE coalesce(a.valid_from <= $at, true) AND coalesce($at < a.valid_until, true)
    END
    AND (size($types) = 0 OR a.type IN $types)
    AND all(name IN keys($payload_filter) WHERE coalesce(a[name] IN $payload_filter[name], false))
  RETURN a.id AS id
  ORDER BY a.shard DESC, a.created_at DESC, id
  LIMIT $limit
}
RETURN collect(id) AS ids
