// Tell which of the given event ids stand in the shard's journal.
// @mode read
// @param shard STRING
// @param event_ids LIST<STRING>
// @rows many   event_id STRING
// @sample {"shard": "t/w", "event_ids": ["evt_1"]}
CYPHER 25
UNWIND $event_ids AS event_id
MATCH (e:Event {shard: $shard, event_id: event_id})
RETURN event_id
