// Read the texts of atoms that have no vector yet.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @rows many   id STRING, type STRING, content_digest STRING, search_text STRING
// @sample {"shard": "t/w", "ids": ["a"]}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
RETURN id,
       a.type AS type,
       a.content_digest AS content_digest,
       a.search_text AS search_text
