// What is believed about a subject.
CYPHER 25
CREATE INDEX atom_subject IF NOT EXISTS
FOR (n:Atom)
ON (n.shard, n.subject, n.relation)
