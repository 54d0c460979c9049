// Keep what packets held, so that outcomes can be held to it; the same packet is kept once.
// Why: a shard that nobody wrote to stays absent, so its packets are not kept either.
// @mode write
// @param rows LIST<MAP>     shard, id, kept_at, and the properties of the manifest
// @rows none
// @sample {"rows": []}
CYPHER 25
UNWIND $rows AS row
MATCH (:Journal {shard: row.shard})
MERGE (m:PacketManifest {shard: row.shard, id: row.id})
  ON CREATE SET m += row.properties,
                m.kept_at = datetime(row.kept_at),
                m.outcome_count = 0
