// The properties of the same records as nodes in one transaction, without any index.
CYPHER 25
UNWIND $rows AS row
CREATE (n:BenchRaw)
SET n = row
