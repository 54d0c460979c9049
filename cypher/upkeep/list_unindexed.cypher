// List the atoms whose text or standing changed between two versions, with what their vectors are made of.
// Why: an atom's standing also changes with a supersession, which is a record of its own.
// @mode read
// @param shard STRING
// @param after INTEGER
// @param upto INTEGER
// @rows many   id STRING, type STRING, version INTEGER, search_text STRING, embedded STRING?
// @sample {"shard": "t/w", "after": 0, "upto": 10}
CYPHER 25
MATCH (v:Version {shard: $shard})
WHERE v.graph_version > $after
  AND v.graph_version <= $upto
MATCH (v)-[:OF]->(n:Atom|Edge)
WITH DISTINCT CASE
       WHEN n:Atom THEN n.id
       WHEN n.relation = 'rel:supersedes' THEN n.target_ref
     END AS ref
MATCH (a:Atom {shard: $shard, id: ref})
OPTIONAL MATCH (e:Embedding {shard: $shard, ref: ref})
WHERE e.version = a.version
RETURN a.id AS id,
       a.type AS type,
       a.version AS version,
       a.search_text AS search_text,
       e.embedding_model AS embedded
ORDER BY id
