// Find the entities that a cue names: by a key of one of their names, or by id, with every id that each stands for.
// @mode read
// @param shard STRING
// @param keys LIST<STRING>          names without case, accents and punctuation
// @param entity_ids LIST<STRING>
// @param limit INTEGER              entities of one name, and names that are told of one entity
// @rows many   entity_id STRING, keys LIST<STRING>, names LIST<STRING>, merged_ids LIST<STRING>
// @sample {"shard": "t/w", "keys": ["a"], "entity_ids": ["ent:a:b"], "limit": 100}
CYPHER 25
CALL () {
  UNWIND $keys AS key
  CALL (key) {
    MATCH (:Name {shard: $shard, name: key})<-[:NAMED]-(e:Entity)
    WITH e
    ORDER BY e.id
    LIMIT $limit
    RETURN e
  }
  RETURN e, key
  UNION
  UNWIND $entity_ids AS entity_id
  MATCH (e:Entity {shard: $shard, id: entity_id})
  RETURN e, null AS key
}
WITH e, collect(key) AS keys
RETURN e.id AS entity_id,
       keys,
       e.names[..$limit] AS names,
       COLLECT {
         MATCH (e)-[:MERGED_INTO|SPLIT_INTO]->{0, 5}(root:Entity)<-[:MERGED_INTO]-{0, 5}(same:Entity)
         RETURN DISTINCT same.id
         ORDER BY same.id
         LIMIT 100
       } AS merged_ids
ORDER BY entity_id
