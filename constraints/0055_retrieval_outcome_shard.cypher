// All of the shard with this label, also without their key: no other index leads to those.
CYPHER 25
CREATE INDEX retrieval_outcome_shard IF NOT EXISTS
FOR (n:RetrievalOutcome)
ON (n.shard)
