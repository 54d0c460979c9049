// Append events with the Versions that they wrote, move the head, and enter access classes and receipts.
// Why: the caller holds the shard's lock; the comparison with $after is the assertion that it does. Times
// come as text, which is read here in a fraction of the time that it takes to pack them there.
// @mode write
// @param shard STRING
// @param after INTEGER         head that the events were chained onto
// @param events LIST<MAP>      properties of each event, and its version rows
// @param journal MAP           new head: graph_version, head_hash, accepted_at
// @param body_bytes INTEGER    canonical bytes of the bodies written
// @param classes LIST<MAP>     access_class, access_policy?, scope_…: recall resolves these before any record
// @param receipts LIST<MAP>    of the commands that end here
// @rows one   graph_version INTEGER
// @sample {"shard": "t/w", "after": 0, "events": [], "journal": {}, "body_bytes": 0, "classes": [], "receipts": []}
CYPHER 25
MATCH (j:Journal {shard: $shard})
WHERE j.graph_version = $after
OPTIONAL MATCH (j)-[pointer:HEAD]->(head:Event)
CALL () {
  UNWIND $events AS row
  CREATE (event:Event)
  SET event = row.properties,
      event.occurred_at = datetime(row.properties.occurred_at),
      event.accepted_at = datetime(row.properties.accepted_at)
  WITH event, row
  CALL (event, row) {
    UNWIND row.versions AS version
    CREATE (event)-[:WROTE]->(written:Version)
    SET written = version,
        written.recorded_at = datetime(version.recorded_at)
    RETURN count(*) AS written_count
  }
  RETURN collect(event) AS appended,
         sum(written_count) AS version_count
}
DELETE pointer
WITH j, appended, version_count,
     CASE WHEN head IS NULL THEN appended ELSE [head] + appended END AS chain
CALL (chain) {
  UNWIND range(1, size(chain) - 1) AS position
  WITH chain[position - 1] AS earlier, chain[position] AS later
  CREATE (earlier)-[:NEXT]->(later)
}
WITH j, version_count, appended[-1] AS newest
CREATE (j)-[:HEAD]->(newest)
SET j += $journal,
    j.version_count = j.version_count + version_count,
    j.body_bytes = j.body_bytes + $body_bytes
WITH j
CALL () {
  UNWIND $classes AS row
  MERGE (c:AccessClass {shard: $shard, access_class: row.access_class})
    ON CREATE SET c += row
}
CALL () {
  UNWIND $receipts AS row
  CREATE (r:Receipt {shard: $shard})
  SET r += row,
      r.recorded_at = datetime(row.recorded_at)
}
RETURN j.graph_version AS graph_version
