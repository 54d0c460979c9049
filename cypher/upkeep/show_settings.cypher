// Show every setting of the server with its value.
// Why: the service refuses a server that was configured unsafely, and names the setting.
// @mode read
// @rows many   name STRING, value STRING
CYPHER 25
SHOW SETTINGS
YIELD name, value
RETURN name, value
ORDER BY name
