// Count the nodes of the database, from its count store.
// Why: an open Bolt port does not say that the database behind it is up; this does, in constant time.
// @mode read
// @rows one   nodes INTEGER
CYPHER 25
MATCH (node)
RETURN count(node) AS nodes
