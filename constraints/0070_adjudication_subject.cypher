// The adjudications of a subject.
CYPHER 25
CREATE INDEX adjudication_subject IF NOT EXISTS
FOR (n:Adjudication)
ON (n.shard, n.subject_ref)
