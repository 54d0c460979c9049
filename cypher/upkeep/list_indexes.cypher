// List the indexes of this store with their states.
// @mode read
// @rows many   name STRING, kind STRING, state STRING
CYPHER 25
SHOW INDEXES
YIELD name, type, state
RETURN name, type AS kind, state
