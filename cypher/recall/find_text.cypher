// Propose atoms whose search text has words of a cue, best first by the index's own measure.
// Why: shard, state and access class are tokens of the query, so hidden atoms take no slot; every other
// filter comes before the limit. The index's scores stay here: they count what the caller may not see.
// @mode read
// @param queries LIST<STRING>         Lucene queries, made of quoted words only
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param at ZONED DATETIME            the instant that the packet speaks of
// @param types LIST<STRING>           atom types; empty for all
// @param payload_filter MAP           lifted property → the value that it must have
// @param scan_max INTEGER             hits that are looked at
// @param limit INTEGER                atoms that are proposed
// @rows one   found LIST<MAP>, expired LIST<STRING>, scanned INTEGER
// @sample {"queries": ["+shard_key:\"k\" +(search_text:\"a\")"], "classes": ["c"], "targeted": [], "at": null, "types": [], "payload_filter": {}, "scan_max": 100, "limit": 10}
CYPHER 25
CALL () {
  UNWIND $queries AS query
  CALL db.index.fulltext.queryNodes('atom_text', query, {limit: $scan_max}) YIELD node AS a, score
  RETURN a,
         a.access_class IN $classes
           AND (a.health_status <> 'privacy_sensitive' OR a.access_class IN $targeted)
           AND (size($types) = 0 OR a.type IN $types)
           AND all(name IN keys($payload_filter) WHERE coalesce(a[name] = $payload_filter[name], false)) AS fits,
         a.state_key = 'superseded'
           OR (coalesce(a.valid_from <= $at, true) AND coalesce($at < a.valid_until, true)) AS holds
  ORDER BY score DESC, a.id
}
RETURN collect(CASE WHEN fits AND holds THEN {id: a.id, state_key: a.state_key} END)[..$limit] AS found,
       collect(CASE WHEN fits AND NOT holds THEN a.id END)[..$limit] AS expired,
       count(*) AS scanned
