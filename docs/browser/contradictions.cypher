// Contradictions that stand, with the evidence of both sides
// :params {"shard": "default/demo"}
CYPHER 25
MATCH (one:Atom {shard: $shard})-[clash:CONTRADICTS]->(other:Atom)
WITH one, clash, other
ORDER BY clash.edge_id
LIMIT 40
MATCH path = (one)-[clash]->(other)
OPTIONAL MATCH first = (one)-[:EVIDENCED_BY]->(:Evidence)
OPTIONAL MATCH second = (other)-[:EVIDENCED_BY]->(:Evidence)
RETURN path, first, second
LIMIT 300
