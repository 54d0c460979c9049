// Proposes candidates by meaning; shard, model, access class and state are filters of the index itself,
// so that hidden atoms never take a slot and two models never mix.
CYPHER 25
CREATE VECTOR INDEX embedding_vector IF NOT EXISTS
FOR (n:Embedding)
ON n.embedding
WITH [n.shard, n.embedding_model, n.access_class, n.state_key]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.type`: 'SCALAR'}}
