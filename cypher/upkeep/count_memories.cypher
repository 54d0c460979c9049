// Count the atoms of a shard that a caller may see, by project, type, lifecycle state and health.
// @mode read
// @param shard STRING
// @param classes LIST<STRING>     access classes that the caller may see
// @param proposals BOOLEAN        whether proposals are counted: only stewards see them
// @param limit INTEGER
// @rows many   project_id STRING?, type STRING, lifecycle_state STRING, health_status STRING, count INTEGER
// @sample {"shard": "t/w", "classes": ["c"], "proposals": true, "limit": 10000}
CYPHER 25
MATCH (atom:Atom {shard: $shard})
WHERE atom.created_at IS NOT NULL
  AND atom.access_class IN $classes
  AND ($proposals OR atom.lifecycle_state <> 'proposed')
RETURN atom.scope_project_id AS project_id,
       atom.type AS type,
       atom.lifecycle_state AS lifecycle_state,
       atom.health_status AS health_status,
       count(*) AS count
ORDER BY project_id, type, lifecycle_state, health_status
LIMIT $limit
