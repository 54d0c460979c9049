// Read the newest bodies of atoms, and of their scores, at or before a version of the graph; none before the first.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param as_of INTEGER
// @rows many   id STRING, version INTEGER, body STRING?, event_id STRING, score STRING?
// @sample {"shard": "t/w", "ids": ["a"], "as_of": 10}
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (v:Version {shard: $shard, ref: id})
  WHERE v.version > 0 AND v.graph_version <= $as_of
  RETURN v
  ORDER BY v.version DESC
  LIMIT 1
}
MATCH (e:Event)-[:WROTE]->(v)
RETURN id,
       v.version AS version,
       v.body AS body,
       e.event_id AS event_id,
       head(COLLECT {
         MATCH (s:Version {shard: $shard, ref: 'scr_' + id})
         WHERE s.version > 0 AND s.graph_version <= $as_of
         RETURN s.body
         ORDER BY s.version DESC
         LIMIT 1
       }) AS score
