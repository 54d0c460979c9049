// Hold the journal of a shard against what it must be: head, gaps, links, bodies, newest event.
// Why: this counts and compares and recomputes no checksum; that, and the projection, is what verify does.
// @title The health of the journal
// @purpose A first look at whether the journal is whole; `amos verify` is the proof.
// @mode read
// @param shard STRING       tenant/workspace
// @param limit INTEGER      rows at most
// @rows many   check STRING, found STRING, expected STRING, fine BOOLEAN
// @sample {"shard": "default/main", "limit": 20}
CYPHER 25
MATCH (journal:Journal {shard: $shard})
CALL (journal) {
  MATCH (event:Event {shard: journal.shard})
  WHERE event.graph_version > 0
  WITH event, COLLECT { MATCH (earlier:Event)-[:NEXT]->(event) RETURN earlier.checksum } AS before
  RETURN count(event) AS events,
         count(DISTINCT event.graph_version) AS versions,
         coalesce(max(event.graph_version), 0) AS newest,
         toString(max(event.accepted_at)) AS newest_at,
         count(CASE WHEN event.graph_version > 1 AND before <> [event.previous_event_hash] THEN 1 END) AS unchained
}
LET head = head(COLLECT { MATCH (journal)-[:HEAD]->(event:Event) RETURN event }),
    bodies = COUNT { MATCH (v:Version {shard: $shard}) WHERE v.graph_version > 0 AND v.body IS NOT NULL }
UNWIND [
  {check: 'head', found: coalesce(toString(head.graph_version), 'none'), expected: toString(journal.graph_version)},
  {check: 'head hash', found: coalesce(head.checksum, 'none'), expected: journal.head_hash},
  {check: 'newest event', found: toString(newest), expected: toString(journal.graph_version)},
  {check: 'events', found: toString(events), expected: toString(journal.graph_version)},
  {check: 'gaps', found: toString(journal.graph_version - versions), expected: '0'},
  {check: 'events not chained to the one before', found: toString(unchained), expected: '0'},
  {check: 'bodies', found: toString(bodies), expected: toString(journal.version_count)},
  {check: 'last write', found: coalesce(newest_at, 'never'), expected: coalesce(newest_at, 'never')}
] AS row
RETURN row.check AS check,
       row.found AS found,
       row.expected AS expected,
       row.found = row.expected AS fine
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
