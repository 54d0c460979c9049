// Take the shard's write lock, then read its head, the receipts of the given keys, and what is mentioned.
// Why: reads are read-committed, so whatever was read before the lock may be stale; writing a fresh
// value takes the lock, and everything after WITH is read under it. One message reads it all.
// @mode write
// @param shard STRING
// @param scope_keys LIST<STRING>      digests of idempotency scope and key
// @param lock_token STRING            fresh for each call
// @param genesis STRING               predecessor of the first event
// @param refs MAP                     kind of record → ids of which the newest bodies are wanted
// @param digests LIST<STRING>         content digests, looked up among atoms of the given states
// @param states LIST<STRING>
// @param stream_ids LIST<STRING>      interaction streams of which the heads are wanted
// @rows one   graph_version INTEGER, head_hash STRING, accepted_at STRING?, receipts LIST<MAP>, records LIST<MAP>, same_content LIST<MAP>, streams LIST<MAP>
// @sample {"shard": "t/w", "scope_keys": ["k"], "lock_token": "x", "genesis": "sha256:0", "refs": {"atom": ["a"]}, "digests": ["d"], "states": ["active"], "stream_ids": ["s"]}
CYPHER 25
MERGE (j:Journal {shard: $shard})
  ON CREATE SET j.store_id = randomUUID(), j.graph_version = 0, j.head_hash = $genesis,
                j.version_count = 0, j.body_bytes = 0, j.title = $shard
SET j.lock_token = $lock_token
WITH j
RETURN j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       j.accepted_at AS accepted_at,
       COLLECT {
         UNWIND $scope_keys AS scope_key MATCH (r:Receipt {shard: $shard, scope_key: scope_key})
         RETURN r {.scope_key, .payload_digest, .result}
       } AS receipts,
       COLLECT {
         CALL () {
           UNWIND $refs.atom AS ref MATCH (n:Atom {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.edge AS ref MATCH (n:Edge {shard: $shard, edge_id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.entity AS ref MATCH (n:Entity {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.relation AS ref MATCH (n:RelationType {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.enum AS ref MATCH (n:EnumValue {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.evidence AS ref MATCH (n:Evidence {shard: $shard, evidence_id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.client AS ref MATCH (n:Client {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.score AS ref MATCH (n:Score {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.artifact AS ref MATCH (n:Artifact {shard: $shard, id: ref}) RETURN ref, n
           UNION ALL UNWIND $refs.refusal AS ref MATCH (n:Refusal {shard: $shard, id: ref}) RETURN ref, n
         }
         MATCH (v:Version {shard: $shard, ref: ref, version: n.version})
         RETURN v {.ref, .kind, .version, .body, event_id: n.last_write_event_id, numbers: n {.utility, .salience, .weight},
                  superseded: EXISTS { (n)<-[:SUPERSEDES]-(:Atom) }}
       } AS records,
       COLLECT {
         UNWIND $digests AS content_digest MATCH (a:Atom {shard: $shard, content_digest: content_digest})
         WHERE a.lifecycle_state IN $states AND a.state_key <> 'superseded'
         WITH content_digest, min(a.id) AS atom_id
         RETURN {content_digest: content_digest, atom_id: atom_id}
       } AS same_content,
       COLLECT {
         MATCH (s:InteractionStream {shard: $shard})
         WHERE s.stream_id IN $stream_ids
         RETURN s {.stream_id, .version, .head_ref}
       } AS streams
