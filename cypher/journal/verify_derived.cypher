// Read the derived nodes of a shard for verification: access classes, and streams with their newest events.
// @mode read
// @param shard STRING
// @rows many   kind STRING, properties MAP, newest INTEGER?, newest_ref STRING?
// @sample {"shard": "t/w"}
CYPHER 25
CALL () {
  MATCH (n:AccessClass {shard: $shard})
  WHERE n.access_class IS NOT NULL
  RETURN 'AccessClass' AS kind, properties(n) AS properties, null AS newest, null AS newest_ref
  UNION ALL
  MATCH (n:InteractionStream {shard: $shard})
  WHERE n.stream_id IS NOT NULL
  RETURN 'InteractionStream' AS kind, properties(n) AS properties, null AS newest, null AS newest_ref
  UNION ALL
  MATCH (a:Atom&InteractionEvent {shard: $shard})
  WHERE a.id IS NOT NULL
    AND a.lifecycle_state <> 'proposed'
  WITH a.stream_id AS stream_id, a
  ORDER BY a.sequence DESC
  WITH stream_id, collect(a)[0] AS last
  RETURN 'InteractionEvent' AS kind, {stream_id: stream_id} AS properties,
         last.sequence AS newest, last.id AS newest_ref
}
RETURN kind, properties, newest, newest_ref
