// Proposes candidates for recall; access class and state are tokens of the same index, so that
// hidden atoms never take a slot.
CYPHER 25
CREATE FULLTEXT INDEX atom_text IF NOT EXISTS
FOR (n:Atom)
ON EACH [n.search_text, n.shard_key, n.access_class, n.state_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}}
