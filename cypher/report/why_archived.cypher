// List the atoms that were archived, newest first: by whom, when, and with which reason.
// Why: the journal holds no free text, so the reason is a piece of evidence that the event cites.
// @title Why something was archived
// @purpose Finds who put a memory away and why.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING?        one atom's id; null for all
// @param limit INTEGER      rows at most
// @rows many   atom_id STRING, title STRING, archived_at STRING, actor STRING, reason JSON?, detached INTEGER, graph_version INTEGER, state_now STRING
// @sample {"shard": "default/main", "ref": null, "limit": 50}
CYPHER 25
MATCH (event:Event {shard: $shard})
WHERE event.graph_version > 0
  AND event.event_type = 'atom_archived'
MATCH (event)-[:WROTE]->(:Version {kind: 'atom'})-[:OF]->(atom:Atom)
WHERE atom.id = coalesce($ref, atom.id)
RETURN atom.id AS atom_id,
       atom.title AS title,
       toString(event.accepted_at) AS archived_at,
       event.actor AS actor,
       head(COLLECT {
         MATCH (reason:Evidence {shard: $shard})
         WHERE reason.evidence_id IN event.evidence_refs
         RETURN reason.payload
       }) AS reason,
       size(event.target_refs) - 1 AS detached,
       event.graph_version AS graph_version,
       atom.state_key AS state_now
ORDER BY graph_version DESC, atom_id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
