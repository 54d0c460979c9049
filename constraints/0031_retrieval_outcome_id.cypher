// An outcome is recorded once.
CYPHER 25
CREATE CONSTRAINT retrieval_outcome_id IF NOT EXISTS
FOR (n:RetrievalOutcome)
REQUIRE (n.shard, n.id) IS UNIQUE
