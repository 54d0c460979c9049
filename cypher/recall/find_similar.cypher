// Propose atoms whose vectors are near a probe, and compare further atoms with it, all in whole numbers.
// Why: shard, model, class and state filter the index itself, so nothing hidden takes a slot; the rest
// comes before the limit of the answer, from more hits than are wanted. The index only proposes: products
// of whole numbers are exact, and are no other whatever else is stored.
// @mode read
// @param shard STRING
// @param embedding_model STRING
// @param probe LIST<INTEGER>
// @param dimensions INTEGER
// @param ids LIST<STRING>             atoms that are compared, whatever the index proposes
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param states LIST<STRING>          state keys that are let in
// @param at ZONED DATETIME            the instant that the packet speaks of
// @param types LIST<STRING>           atom types; empty for all
// @param payload_filter MAP           lifted property → the values of which it must have one
// @param scan_max INTEGER             hits of the index that are looked at
// @rows one   found LIST<LIST<ANY>>, compared LIST<LIST<ANY>>, scanned INTEGER
// @sample {"shard": "t/w", "embedding_model": "m", "probe": [1], "dimensions": 1, "ids": ["a"], "classes": ["c"], "targeted": [], "states": ["live"], "at": null, "types": [], "payload_filter": {}, "scan_max": 10}
CYPHER 25
CALL () {
  MATCH (e:Embedding)
  SEARCH e IN (
    VECTOR INDEX embedding_vector
    FOR $probe
    WHERE e.shard = $shard AND e.embedding_model = $embedding_model AND e.access_class IN $classes AND e.state_key IN $states
    LIMIT $scan_max
  )
  MATCH (a:Atom {shard: e.shard, id: e.ref})
  WITH a, e,
       a.version = e.version AND a.access_class IN $classes AND a.state_key IN $states
         AND (a.health_status <> 'privacy_sensitive' OR a.access_class IN $targeted)
         AND (a.state_key = 'superseded' OR coalesce(a.valid_from <= $at, true) AND coalesce($at < a.valid_until, true))
         AND (size($types) = 0 OR a.type IN $types)
         AND all(name IN keys($payload_filter) WHERE coalesce(a[name] IN $payload_filter[name], false)) AS enters
  RETURN count(*) AS scanned,
         collect(CASE WHEN enters THEN [a.id, e.squares, toInteger(-vector_distance(
           vector(e.embedding, $dimensions, INTEGER8), vector($probe, $dimensions, INTEGER8), DOT))] END) AS found
}
RETURN found,
       COLLECT {
         UNWIND $ids AS id
         MATCH (a:Atom {shard: $shard, id: id})
         MATCH (e:Embedding {shard: $shard, ref: id})
         WHERE e.version = a.version AND e.embedding_model = $embedding_model
         RETURN [id, coalesce(e.squares, 0), CASE WHEN e.embedding IS NOT NULL THEN toInteger(-vector_distance(
           vector(e.embedding, $dimensions, INTEGER8), vector($probe, $dimensions, INTEGER8), DOT)) ELSE 0 END]
       } AS compared,
       scanned
