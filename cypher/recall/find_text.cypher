// Propose atoms whose search text has words of a cue, those with the rarest words first.
// Why: shard, state and access class are tokens of the query, so hidden atoms take no slot; every other
// filter comes before the limit. The order is by stored text: the index's own scores move when others
// write, and count what the caller may not see. Only where more than scan_max match do they choose.
// @mode read
// @param queries LIST<STRING>         Lucene queries, made of quoted words only
// @param words LIST<STRING>           the words of the cue, folded
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param at ZONED DATETIME            the instant that the packet speaks of
// @param types LIST<STRING>           atom types; empty for all
// @param payload_filter MAP           lifted property → the values of which it must have one
// @param scan_max INTEGER             hits that are looked at
// @param limit INTEGER                atoms that are proposed
// @rows one   found LIST<MAP>, expired LIST<STRING>, filtered INTEGER, scanned INTEGER
// @sample {"queries": ["+shard_key:\"k\" +(search_text:\"a\")"], "words": ["a"], "classes": ["c"], "targeted": [], "at": null, "types": [], "payload_filter": {}, "scan_max": 100, "limit": 10}
CYPHER 25
CALL () {
  UNWIND $queries AS query
  CALL db.index.fulltext.queryNodes('atom_text', query, {limit: $scan_max}) YIELD node AS a
  RETURN collect({
    id: a.id,
    state_key: a.state_key,
    words: [word IN $words WHERE toLower(a.search_text) CONTAINS word],
    open: a.access_class IN $classes
      AND (a.health_status <> 'privacy_sensitive' OR a.access_class IN $targeted),
    fits: (size($types) = 0 OR a.type IN $types)
      AND all(name IN keys($payload_filter) WHERE coalesce(a[name] IN $payload_filter[name], false)),
    holds: a.state_key = 'superseded'
      OR (coalesce(a.valid_from <= $at, true) AND coalesce($at < a.valid_until, true))
  }) AS hits
}
WITH hits,
     [word IN $words | size([hit IN hits WHERE word IN hit.words])] AS counts
CALL (hits, counts) {
  UNWIND hits AS hit
  WITH hit,
       reduce(weight = 0.0, position IN range(0, size($words) - 1) |
         CASE
           WHEN $words[position] IN hit.words THEN weight + 1.0 / counts[position]
           ELSE weight
         END) AS weight
  ORDER BY weight DESC, hit.id
  RETURN collect(hit) AS ranked
}
WITH hits, [hit IN ranked WHERE hit.open] AS seen
RETURN [hit IN seen WHERE hit.fits AND hit.holds | {id: hit.id, state_key: hit.state_key}][..$limit] AS found,
       [hit IN seen WHERE hit.fits AND NOT hit.holds | hit.id][..$limit] AS expired,
       size([hit IN seen WHERE hit.holds AND NOT hit.fits]) AS filtered,
       size(hits) AS scanned
