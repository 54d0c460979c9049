// Write a fresh value to the canary: proof that this database takes writes now.
// Why: an open port, and even an answered read, do not say that a write would be accepted.
// @mode write
// @param token STRING     fresh for each call
// @rows none
// @sample {"token": "x"}
CYPHER 25
MERGE (canary:Canary {name: 'ready'})
SET canary.token = $token,
    canary.title = 'readiness canary'
