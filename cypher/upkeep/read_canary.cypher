// Read what the last canary write left.
// @mode read
// @rows many   token STRING
// @sample {}
CYPHER 25
MATCH (canary:Canary {name: 'ready'})
RETURN canary.token AS token
LIMIT 10
