// Take the rivals' nodes away again, some at a time.
CYPHER 25
MATCH (n:BenchRaw|BenchBare)
WITH n
LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted
