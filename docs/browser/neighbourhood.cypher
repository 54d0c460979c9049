// The neighbourhood of an entity: what is believed about it, on what evidence, and what that touches
// :params {"shard": "default/demo", "about": "ent:person:lena_hartmann"}
CYPHER 25
MATCH (:Entity {shard: $shard, id: $about})-[:MERGED_INTO|SPLIT_INTO]->{0,5}(:Entity)<-[:MERGED_INTO]-{0,5}(named:Entity)
MATCH (named)<-[:REFERS_TO]-(atom:Atom&Live)
WITH DISTINCT named, atom
ORDER BY atom.confidence_score DESC, atom.id
LIMIT 40
MATCH path = (named)<-[:REFERS_TO]-(atom)-[:!OF]-(:Atom|Entity|Evidence)
RETURN path
LIMIT 300
