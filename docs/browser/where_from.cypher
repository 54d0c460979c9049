// Where one memory comes from: what it replaced or was made from, the evidence, and the events that wrote it
// :params {"shard": "default/demo", "ref": "story/preference/incidents-2"}
CYPHER 25
MATCH lineage = (:Atom {shard: $shard, id: $ref})-[:SUPERSEDES|DERIVED_FROM|SUMMARIZES]->{0,5}(source:Atom)
OPTIONAL MATCH evidence = (source)-[:EVIDENCED_BY]->(:Evidence)
OPTIONAL MATCH written = (source)<-[:OF]-(:Version)<-[:WROTE]-(:Event)
RETURN lineage, evidence, written
LIMIT 200
