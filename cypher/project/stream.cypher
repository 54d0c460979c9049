// Advance interaction streams to their newest events.
// Why: derived from interaction_event atoms and rebuildable from them; never a record of its own.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     stream_id, conversation_id, version, head_ref
// @rows none
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (s:InteractionStream {shard: $shard, stream_id: row.stream_id})
SET s.conversation_id = row.conversation_id,
    s.version = row.version,
    s.head_ref = row.head_ref,
    s.title = row.conversation_id
