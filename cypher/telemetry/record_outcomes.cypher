// Keep raw outcomes, and count them on the usage of what their packets held.
// Why: the first outcome of a packet is what tells that its items were seen; a second one sees nothing more.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>            packet_id, created_at, properties of the outcome, counts by item
// @param contexts_max INTEGER      task contexts that are kept of one atom, the last ones
// @rows none
// @sample {"shard": "t/w", "rows": [], "contexts_max": 20}
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  CREATE (o:RetrievalOutcome {shard: $shard})
  SET o += row.properties,
      o.created_at = datetime(row.created_at)
  WITH row
  OPTIONAL MATCH (m:PacketManifest {shard: $shard, id: row.packet_id})
  WITH row, m, CASE coalesce(m.outcome_count, 0) WHEN 0 THEN 1 ELSE 0 END AS seen
  SET m.outcome_count = coalesce(m.outcome_count, 0) + 1
  WITH row, seen
  UNWIND row.counts AS item
  MERGE (u:Usage {shard: $shard, ref: item.ref})
    ON CREATE SET u.access_count = 0, u.use_count = 0, u.helpful_count = 0, u.unhelpful_count = 0,
                  u.corrections_after_use = 0, u.success_after_use = 0, u.failure_after_use = 0,
                  u.task_contexts_used_in = [], u.repair_flags = []
  SET u.access_count = u.access_count + seen,
      u.last_accessed = datetime(row.created_at),
      u.use_count = u.use_count + item.used,
      u.helpful_count = u.helpful_count + item.helpful,
      u.unhelpful_count = u.unhelpful_count + item.unhelpful,
      u.corrections_after_use = u.corrections_after_use + item.corrected,
      u.success_after_use = u.success_after_use + item.succeeded,
      u.failure_after_use = u.failure_after_use + item.failed,
      u.repair_flags = u.repair_flags + [flag IN item.flags WHERE NOT flag IN u.repair_flags],
      u.task_contexts_used_in = CASE
        WHEN item.context IS NULL THEN u.task_contexts_used_in
        ELSE ([c IN u.task_contexts_used_in WHERE c <> item.context] + item.context)[-$contexts_max..]
      END
  SET u.title = 'seen ' + u.access_count + ', used ' + u.use_count
}
