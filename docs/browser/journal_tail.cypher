// The end of the journal: its head, the ten events before it, and what they wrote
// :params {"shard": "default/demo"}
CYPHER 25
MATCH (journal:Journal {shard: $shard})-[:HEAD]->(newest:Event)
MATCH path = (journal)-[:HEAD]->(newest)<-[:NEXT]-{0,10}(event:Event)
OPTIONAL MATCH wrote = (event)-[:WROTE]->(:Version)-[:OF]->()
RETURN path, wrote
LIMIT 300
