// Finds entities by folded names and aliases.
CYPHER 25
CREATE FULLTEXT INDEX entity_text IF NOT EXISTS
FOR (n:Entity)
ON EACH [n.names_text, n.shard_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}}
