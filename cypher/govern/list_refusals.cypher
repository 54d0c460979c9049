// List what was refused in order of creation, one page after a position.
// @mode read
// @param shard STRING
// @param classes LIST<STRING>          access classes that the caller may see
// @param statuses LIST<STRING>         empty for all
// @param codes LIST<STRING>            error codes; empty for all
// @param after_created ZONED DATETIME  position: created_at and id of the last refusal seen
// @param after_id STRING
// @param limit INTEGER
// @rows many   id STRING, created_at ZONED DATETIME, body STRING
// @sample {"shard": "t/w", "classes": ["c"], "statuses": ["open"], "codes": [], "after_created": null, "after_id": "", "limit": 10}
CYPHER 25
MATCH (n:Refusal {shard: $shard})
USING INDEX n:Refusal(shard, created_at)
WHERE n.created_at >= $after_created
  AND CASE n.created_at WHEN $after_created THEN n.id > $after_id ELSE true END
  AND n.access_class IN $classes
  AND (size($statuses) = 0 OR n.status IN $statuses)
  AND (size($codes) = 0 OR n.code IN $codes)
WITH n
ORDER BY n.shard, n.created_at, n.id
LIMIT $limit
MATCH (v:Version {shard: $shard, ref: n.id, version: n.version})
RETURN n.id AS id,
       n.created_at AS created_at,
       v.body AS body
ORDER BY created_at, id
