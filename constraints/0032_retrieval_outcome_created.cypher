// The oldest raw outcomes of a shard are forgotten first.
CYPHER 25
CREATE INDEX retrieval_outcome_created IF NOT EXISTS
FOR (n:RetrievalOutcome)
ON (n.shard, n.created_at)
