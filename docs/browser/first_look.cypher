// A first look: the newest live memories, their entities and their evidence
// :params {"shard": "default/demo"}
CYPHER 25
MATCH (atom:Atom&Live&!InteractionEvent {shard: $shard})
WITH atom
ORDER BY atom.updated_at DESC, atom.id
LIMIT 40
MATCH path = (atom)-[:!OF]-(:Atom|Entity|Evidence)
RETURN path
LIMIT 300
