// Changes of mind: every chain of memories in which a newer one took the place of an older one
// :params {"shard": "default/demo"}
CYPHER 25
MATCH (newest:Atom&Live {shard: $shard})-[:SUPERSEDES]->(:Atom)
WITH newest
ORDER BY newest.updated_at DESC, newest.id
LIMIT 40
MATCH path = (newest)-[:SUPERSEDES]->{1,10}(:Atom)
RETURN path
LIMIT 300
