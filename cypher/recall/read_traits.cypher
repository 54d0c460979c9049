// Read what atoms are scored by; the numbers come from stored data, never from an index.
// Why: one row for all, and times as microseconds, since a message for each atom costs more than its reading.
// Edges and neighbours count only as far as the caller may see them.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param said MAP                     atom type → native properties that count of its payload
// @param said_max INTEGER             characters of a payload that is looked into
// @param edges_max INTEGER            edges of one kind that are told of one atom
// @param degree_max INTEGER           associations that are counted; 0 for none
// @rows one   traits LIST<LIST<ANY>>
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"], "targeted": [], "said": {"belief": ["subject"]}, "said_max": 100, "edges_max": 10, "degree_max": 10}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
WITH a,
     COLLECT {
       MATCH (a)-[r:CONTRADICTS]-(b:Atom)
       WHERE r.access_class IN $classes AND b.access_class IN $classes
         AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
       RETURN b.type ORDER BY r.edge_id LIMIT $edges_max
     } AS opposed,
     COLLECT {
       MATCH (a)<-[r:INHIBITS|CORRECTS|SUPERSEDES]-(b:Atom)
       WHERE r.access_class IN $classes AND b.access_class IN $classes
         AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
       RETURN [b.id, 'rel:' + toLower(type(r)), r.edge_id, r.weight * r.confidence] ORDER BY r.edge_id LIMIT $edges_max
     } AS held,
     EXISTS {
       MATCH (a)-[r:CORRECTS|SUPERSEDES]->(b:Atom)
       WHERE r.access_class IN $classes AND b.access_class IN $classes
         AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
     } AS corrects,
     COUNT {
       MATCH (a)-[r:!(REFERS_TO|EVIDENCED_BY|OF|SUPERSEDES|DERIVED_FROM|SUMMARIZES|ADJUDICATES|INVOKES|INHIBITS)]-(b:Atom)
       WHERE r.access_class IN $classes AND b.access_class IN $classes AND r.weight * r.confidence > 0
         AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
       RETURN r LIMIT $degree_max
     } AS degree,
     COLLECT { MATCH (a)-[:REFERS_TO]->(e:Entity) RETURN DISTINCT e.id AS entity ORDER BY entity LIMIT $edges_max } AS entities
RETURN collect([
  a.id, a.type, a.state_key, a.health_status, a.health_flags, a.confidence_score, a.utility, a.salience, a.version,
  a.updated_at.epochSeconds * 1000000 + a.updated_at.microsecond,
  a.valid_from.epochSeconds * 1000000 + a.valid_from.microsecond,
  a.valid_until.epochSeconds * 1000000 + a.valid_until.microsecond,
  a.search_text,
  [name IN $said[a.type] | CASE WHEN name = 'payload' AND size(a.payload) > $said_max THEN null ELSE a[name] END],
  opposed, held, corrects, degree, entities
]) AS traits
