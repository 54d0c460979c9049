// List the episodes and outcomes of actions that an atom is joined to, by an edge or by evidence in common.
// @title Which episode caused this
// @purpose Shows what happened that a procedure, a limitation or a belief comes from.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING         the atom's id
// @param limit INTEGER      rows at most
// @rows many   episode_id STRING, type STRING, title STRING, joined_by LIST<STRING>, result STRING?, observed_at STRING?, state_now STRING
// @sample {"shard": "default/demo", "ref": "story/procedure/deploy-2", "limit": 50}
CYPHER 25
MATCH (atom:Atom {shard: $shard, id: $ref})
CALL (atom) {
  MATCH (atom)-[link:!(REFERS_TO|EVIDENCED_BY|MENTIONS|OF)]-(episode:Episode|ActionOutcome)
  RETURN episode, toLower(type(link)) AS joined_by
  UNION
  MATCH (atom)-[:EVIDENCED_BY]->(source:Evidence)<-[:EVIDENCED_BY]-(episode:Episode|ActionOutcome)
  RETURN episode, 'evidence ' + source.evidence_id AS joined_by
}
WITH episode, joined_by
WHERE episode.id <> $ref
ORDER BY joined_by
WITH episode, collect(DISTINCT joined_by)[..10] AS joined_by
RETURN episode.id AS episode_id,
       episode.type AS type,
       episode.title AS title,
       joined_by,
       coalesce(episode.outcome, episode.success_status) AS result,
       toString(episode.observed_at) AS observed_at,
       episode.state_key AS state_now
ORDER BY observed_at DESC, episode_id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
