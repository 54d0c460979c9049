// Read what atoms are scored by; the numbers come from stored data, never from an index.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>         access classes that the caller may see
// @rows many   id STRING, type STRING, state_key STRING, health_status STRING, health_flags LIST<STRING>, confidence FLOAT, utility FLOAT, salience FLOAT, updated_at ZONED DATETIME, valid_from ZONED DATETIME?, valid_until ZONED DATETIME?, search_text STRING, contradictions INTEGER
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"]}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
RETURN id,
       a.type AS type,
       a.state_key AS state_key,
       a.health_status AS health_status,
       a.health_flags AS health_flags,
       a.confidence_score AS confidence,
       a.utility AS utility,
       a.salience AS salience,
       a.updated_at AS updated_at,
       a.valid_from AS valid_from,
       a.valid_until AS valid_until,
       a.search_text AS search_text,
       COUNT {
         MATCH (a)-[r:CONTRADICTS]-(b:Atom)
         WHERE r.access_class IN $classes
           AND b.access_class IN $classes
       } AS contradictions
