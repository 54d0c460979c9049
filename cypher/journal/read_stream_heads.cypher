// Read the heads of interaction streams; a stream that has no event yet gives no row.
// @mode read
// @param shard STRING
// @param stream_ids LIST<STRING>
// @rows many   stream_id STRING, version INTEGER, head_ref STRING
// @sample {"shard": "t/w", "stream_ids": ["s"]}
CYPHER 25
UNWIND $stream_ids AS stream_id
MATCH (s:InteractionStream {shard: $shard, stream_id: stream_id})
RETURN stream_id,
       s.version AS version,
       s.head_ref AS head_ref
