// Show each database with its state and what went wrong with it.
// Why: a server whose database could not be opened accepts connections all the same. Run on `system`.
// @mode read
// @rows many   name STRING, status STRING, message STRING
CYPHER 25
SHOW DATABASES
YIELD name, currentStatus, statusMessage
RETURN name, currentStatus AS status, statusMessage AS message
ORDER BY name
