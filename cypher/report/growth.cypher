// Count the atoms that were added, day by day, by scope and type, and how many of them are still live.
// @title Growth by type and scope
// @purpose Shows where memories come from, and which kinds are put away or superseded again.
// @mode read
// @param shard STRING       tenant/workspace
// @param limit INTEGER      rows at most
// @rows many   day STRING, project_id STRING?, user_id STRING?, agent_id STRING?, type STRING, added INTEGER, live_now INTEGER, body_bytes INTEGER
// @sample {"shard": "default/main", "limit": 100}
CYPHER 25
MATCH (written:Version {shard: $shard})
WHERE written.graph_version > 0
  AND written.kind = 'atom'
  AND written.version = 1
MATCH (written)-[:OF]->(atom:Atom)
RETURN toString(date(written.recorded_at)) AS day,
       atom.scope_project_id AS project_id,
       atom.scope_user_id AS user_id,
       atom.scope_agent_id AS agent_id,
       atom.type AS type,
       count(*) AS added,
       count(CASE WHEN atom:Live THEN 1 END) AS live_now,
       sum(size(written.body)) AS body_bytes
ORDER BY day DESC, project_id, user_id, agent_id, type
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
