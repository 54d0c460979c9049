// List what hangs on nothing: live atoms without edges and entities, entities and evidence without use.
// @title Orphans
// @purpose Finds what recall can reach by its own text only, and what nothing uses.
// @mode read
// @param shard STRING       tenant/workspace
// @param limit INTEGER      rows at most
// @rows many   kind STRING, label STRING, ref STRING, title STRING?
// @sample {"shard": "default/main", "limit": 100}
CYPHER 25
CALL () {
  MATCH (record:Atom {shard: $shard} WHERE record.id IS NOT NULL)
  WHERE record:Live
    AND NOT EXISTS { (record)-[:!EVIDENCED_BY&!OF]-(:Atom|Entity) }
  RETURN 'unlinked_atom' AS kind, record, record.type AS label, record.id AS ref
  UNION ALL
  MATCH (record:Entity {shard: $shard} WHERE record.id IS NOT NULL)
  WHERE NOT EXISTS { (record)-[:REFERS_TO|MERGED_INTO|SPLIT_INTO]-() }
  RETURN 'unused_entity' AS kind, record, record.type AS label, record.id AS ref
  UNION ALL
  MATCH (record:Evidence {shard: $shard} WHERE record.evidence_id IS NOT NULL)
  WHERE NOT EXISTS { (record)<-[:EVIDENCED_BY]-() }
    AND record.source_type <> 'archive_reason'
  RETURN 'uncited_evidence' AS kind, record, record.source_type AS label, record.evidence_id AS ref
}
RETURN kind,
       label,
       ref,
       record.title AS title
ORDER BY kind, label, ref
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
