// List the judgments by which a record became active: who judged, by which guidance, with which standing.
// @title Why is this active
// @purpose Shows whose decision a memory or a rule in force was, on what guidance, and with which dissent.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING         the record's id
// @param limit INTEGER      rows at most
// @rows many   since STRING, event_type STRING, adjudication STRING?, outcome STRING?, ratifier STRING?, risk_class STRING?, guidance LIST<STRING>, epistemic STRING?, normative STRING?, operational STRING?, constitutional STRING?, evidence LIST<STRING>
// @sample {"shard": "default/demo", "ref": "covenant:1", "limit": 20}
CYPHER 25
MATCH (written:Version {shard: $shard, ref: $ref})
WHERE written.version > 0
MATCH (event:Event)-[:WROTE]->(written)
WHERE event.event_type IN ['proposal_ratified', 'constitutional_record_replaced', 'constitution_founded', 'atom_committed', 'atom_restored']
OPTIONAL MATCH (written)-[:OF]->(:Atom)<-[:ADJUDICATES]-(judgment:Atom)
  WHERE event.payload CONTAINS '"adjudication_ref":"' + judgment.id + '"'
RETURN toString(event.accepted_at) AS since,
       event.event_type AS event_type,
       judgment.id AS adjudication,
       judgment.outcome AS outcome,
       judgment.ratifier AS ratifier,
       judgment.risk_class AS risk_class,
       COLLECT { MATCH (judgment)-[:INVOKES]->(rule:Atom) RETURN rule.id AS id ORDER BY id LIMIT 20 } AS guidance,
       judgment.epistemic_standing AS epistemic,
       judgment.normative_standing AS normative,
       judgment.operational_authority AS operational,
       CASE event.event_type WHEN 'constitution_founded' THEN 'inherited_genesis' ELSE judgment.constitutional_standing END AS constitutional,
       COLLECT { UNWIND event.evidence_refs AS id RETURN id ORDER BY id LIMIT 20 } AS evidence
ORDER BY since
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
