// The least that can be asked: one number, in a managed read transaction.
CYPHER 25
RETURN 1 AS one
