// List the evidence behind an atom, its own and that of what it derives from or summarises, nearest first.
// Why: one way to each atom is enough, and six steps are as far as anybody reads; provenance:analyze goes on.
// @title Which evidence supports this
// @purpose Follows a memory back to what was really said, done or read, through what it was made from.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING         the atom's id
// @param limit INTEGER      rows at most
// @rows many   evidence_id STRING, source_type STRING, source_ref STRING, captured_at STRING, steps INTEGER, by_way_of LIST<STRING>, said STRING
// @sample {"shard": "default/demo", "ref": "story/preference/incidents-2", "limit": 50}
CYPHER 25
MATCH (atom:Atom {shard: $shard, id: $ref})
CALL (atom) {
  MATCH way = ANY SHORTEST (atom)(()-[:DERIVED_FROM|SUMMARIZES]->(:Atom)){0,6}(between:Atom)
  RETURN between, length(way) AS steps, [step IN nodes(way)[1..] | step.id] AS by_way_of
  LIMIT 1000
}
MATCH (between)-[:EVIDENCED_BY]->(source:Evidence)
WITH source, steps, by_way_of
ORDER BY steps, by_way_of
WITH source, collect({steps: steps, by_way_of: by_way_of})[0] AS nearest
RETURN source.evidence_id AS evidence_id,
       source.source_type AS source_type,
       source.source_ref AS source_ref,
       toString(source.captured_at) AS captured_at,
       nearest.steps AS steps,
       nearest.by_way_of AS by_way_of,
       left(source.payload, 200) AS said
ORDER BY steps, evidence_id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
