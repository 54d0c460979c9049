// Read a page of live atoms with their texts, in the order of the digests of what they say: a fair sample.
// Why: private ones are left out, since not everyone who sees their class sees them.
// @mode read
// @param shard STRING
// @param after STRING             the last digest of the page before
// @param full LIST<STRING>        access classes of which enough was read
// @param limit INTEGER
// @rows many   content_digest STRING, access_class STRING, id STRING, type STRING, search_text STRING?
// @sample {"shard": "t/w", "after": "", "full": [], "limit": 10}
CYPHER 25
MATCH (a:Atom {shard: $shard})
USING INDEX a:Atom(shard, content_digest)
WHERE a.content_digest > $after
WITH a
ORDER BY a.content_digest
LIMIT $limit
RETURN a.content_digest AS content_digest,
       a.access_class AS access_class,
       a.id AS id,
       a.type AS type,
       CASE
         WHEN a.state_key = 'live' AND a.health_status <> 'privacy_sensitive' AND NOT a.access_class IN $full
         THEN a.search_text
       END AS search_text
ORDER BY content_digest, id
