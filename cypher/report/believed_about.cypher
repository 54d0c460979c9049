// List what is believed about an entity now, strongest first, with the evidence that it rests on.
// @title What is believed about X, and on what evidence
// @purpose Start here when you ask what the store holds about a person, a project or a thing.
// @mode read
// @param shard STRING       tenant/workspace
// @param about STRING       an entity id (ent:…), or one of its names; what it became or was split into counts
// @param limit INTEGER      rows at most
// @rows many   atom_id STRING, type STRING, claim STRING, roles LIST<STRING>, confidence FLOAT, health STRING, valid_from STRING?, valid_until STRING?, contradicted_by LIST<STRING>, evidence_count INTEGER, evidence LIST<STRING>, updated_at STRING
// @sample {"shard": "default/demo", "about": "ent:person:lena_hartmann", "limit": 50}
CYPHER 25
CALL () {
  MATCH (named:Entity {shard: $shard, id: $about})
  RETURN named
  UNION
  MATCH (named:Entity {shard: $shard})
  WHERE named.canonical_name IS NOT NULL
    AND toLower($about) IN named.names
  RETURN named
}
MATCH (named)-[:MERGED_INTO|SPLIT_INTO]->{0, 5}(:Entity)<-[:MERGED_INTO]-{0, 5}(same:Entity)
WITH DISTINCT same
MATCH (same)<-[link:REFERS_TO]-(atom:Atom&Live&!InteractionEvent)
WITH atom, collect(DISTINCT link.role) AS roles
ORDER BY atom.confidence_score DESC, atom.updated_at DESC, atom.id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
RETURN atom.id AS atom_id,
       atom.type AS type,
       atom.title AS claim,
       roles,
       atom.confidence_score AS confidence,
       atom.health_status AS health,
       toString(atom.valid_from) AS valid_from,
       toString(atom.valid_until) AS valid_until,
       COLLECT {
         MATCH (atom)-[:CONTRADICTS]-(other:Atom)
         RETURN DISTINCT other.id AS id
         ORDER BY id
         LIMIT 10
       } AS contradicted_by,
       COUNT { (atom)-[:EVIDENCED_BY]->(:Evidence) } AS evidence_count,
       COLLECT {
         MATCH (atom)-[:EVIDENCED_BY]->(source:Evidence)
         ORDER BY source.captured_at DESC, source.evidence_id
         LIMIT 10
         RETURN source.evidence_id + ' (' + source.title + ')'
       } AS evidence,
       toString(atom.updated_at) AS updated_at
