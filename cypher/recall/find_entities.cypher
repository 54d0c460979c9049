// Find entities by folded name or by id, each with all that it stands for: merged into one, or the parts of it.
// Why: the index proposes by words; a name counts only if it is the whole folded name.
// @mode read
// @param shard STRING
// @param queries LIST<STRING>       Lucene queries, made of quoted names only
// @param names LIST<STRING>         folded names
// @param entity_ids LIST<STRING>
// @param limit INTEGER              hits of each query
// @rows many   entity_id STRING, names LIST<STRING>, merged_ids LIST<STRING>
// @sample {"shard": "t/w", "queries": ["+shard_key:\"k\" +(names_text:\"a\")"], "names": ["a"], "entity_ids": ["ent:a:b"], "limit": 100}
CYPHER 25
CALL () {
  UNWIND $queries AS query
  CALL db.index.fulltext.queryNodes('entity_text', query, {limit: $limit}) YIELD node AS e
  WITH e
  WHERE e.shard = $shard
    AND any(name IN e.names WHERE name IN $names)
  RETURN e
  UNION
  UNWIND $entity_ids AS entity_id
  MATCH (e:Entity {shard: $shard, id: entity_id})
  RETURN e
}
RETURN e.id AS entity_id,
       [name IN e.names WHERE name IN $names] AS names,
       COLLECT {
         MATCH (e)-[:MERGED_INTO|SPLIT_INTO]->{0, 5}(root:Entity)<-[:MERGED_INTO]-{0, 5}(same:Entity)
         RETURN DISTINCT same.id
         ORDER BY same.id
         LIMIT 100
       } AS merged_ids
ORDER BY entity_id
