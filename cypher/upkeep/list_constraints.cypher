// List the constraints of this store.
// @mode read
// @rows many   name STRING, kind STRING, state STRING
CYPHER 25
SHOW CONSTRAINTS
YIELD name, type
RETURN name, type AS kind, '' AS state
