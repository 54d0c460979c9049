// An export reads receipts in the order of the versions that they tell of.
CYPHER 25
CREATE INDEX receipt_graph_version IF NOT EXISTS
FOR (n:Receipt)
ON (n.shard, n.graph_version, n.scope_key)
