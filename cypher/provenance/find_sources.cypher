// Find the records that sources are named by: an atom, evidence, or the atoms that a packet gave its reader.
// Why: a text that repeats what was recalled names the packet or the memory as its source, and adds nothing to it.
// @mode read
// @param shard STRING
// @param names LIST<STRING>       what evidence and payloads name as their sources
// @param classes LIST<STRING>     access classes that the caller may see
// @param states LIST<STRING>      lifecycle states of atoms that the caller may see
// @param client STRING?           whose packets may be looked into; null looks into all
// @param limit INTEGER
// @rows many   name STRING, ref STRING, source_type STRING?, source_ref STRING?, checksum STRING?, payload STRING?
// @sample {"shard": "t/w", "names": ["a", "pkt_0"], "classes": ["c"], "states": ["active"], "client": null, "limit": 100}
CYPHER 25
UNWIND $names AS name
CALL (name) {
  MATCH (n:Atom {shard: $shard, id: name})
  RETURN n
  UNION
  MATCH (n:Evidence {shard: $shard, evidence_id: name})
  RETURN n
  UNION
  MATCH (m:PacketManifest {shard: $shard, id: name})
  WHERE $client IS NULL OR m.client_id = $client
  UNWIND m.atom_refs AS held
  MATCH (n:Atom {shard: $shard, id: held})
  RETURN n
}
WITH name, n
WHERE n.access_class IN $classes AND coalesce(n.lifecycle_state IN $states, true)
RETURN name,
       coalesce(n.id, n.evidence_id) AS ref,
       n.source_type AS source_type,
       n.source_ref AS source_ref,
       n.checksum AS checksum,
       CASE WHEN n.payload CONTAINS '"source_refs"' AND n.type IS NOT NULL THEN n.payload END AS payload
LIMIT $limit
